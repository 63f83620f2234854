"""The hierarchy editor: builder forms, what an editor shows of a hierarchy, and its pages."""
