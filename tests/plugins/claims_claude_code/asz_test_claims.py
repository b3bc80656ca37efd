"""An adapter that claims the name of asz's own. It must not even be imported."""

raise AssertionError("imported in spite of its name")
