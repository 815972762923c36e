"""Everything the lab builds or starts so that `pulumi` and the cluster programs run on a bare machine."""
