"""Session Flow: rounds, the chain they form, and what folding it gives."""
