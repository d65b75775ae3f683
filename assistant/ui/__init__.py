"""The page: a Gradio front that follows conversations and never owns one."""
