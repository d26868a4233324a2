"""How many items an evaluation needs, and what it would find."""
