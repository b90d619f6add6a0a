"""What people meet: review of documents, check of gradient code, command line, web page, notebook."""
