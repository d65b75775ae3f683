"""What the strange machines need around them: a proxy, a server with a certificate of its own, disks without locks."""
