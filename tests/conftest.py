"""What all suites share."""

from importlib.metadata import entry_points

# The suite of somebody else's adapter needs their package, which its own tox environment installs.
collect_ignore = [] if entry_points(group="asz.adapters", name="working") else ["third_party"]
