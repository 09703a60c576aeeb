"""What a gateway must keep: one file per fact."""
