"""The check of the guarantee: what jobs wrote about themselves against what was due. It trusts nothing of ours."""
