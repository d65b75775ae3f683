"""Session files of OpenClaw and its relatives: shrunk in place, after what matters went into a diary."""
