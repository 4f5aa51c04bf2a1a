"""What several scenarios do to a cluster, one file each."""
