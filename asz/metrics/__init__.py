"""Metrics: derived from what landed, or received; spooled until they are sent."""
