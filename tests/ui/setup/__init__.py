"""Mirror of `assistant/ui/setup`."""
