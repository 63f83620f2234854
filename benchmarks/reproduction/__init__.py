"""The evaluation of the dissertation (chapter 3) anew, with this engine, as pages of the documentation."""
