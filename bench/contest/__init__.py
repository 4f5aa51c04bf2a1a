"""The contest: us, the peers and the limit on the same work in the same run, round by round."""
