"""Programs of binding calls, what they come to on either side, and recording that."""
