"""The storage root on disk: the landed format, files, locks, cursors, index."""
