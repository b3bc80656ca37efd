"""From what the index holds of a session to the structure of a conversation; pure, without I/O."""
