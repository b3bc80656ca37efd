"""An adapter that cannot be imported."""

raise RuntimeError("raised on import")
