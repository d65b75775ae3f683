"""Tool results made shorter, with the full text kept aside."""
