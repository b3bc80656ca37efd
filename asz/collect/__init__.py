"""One pass: look for sessions, land what is new under each session's lock, index it, assemble it."""
