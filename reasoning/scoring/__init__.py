"""What answers are worth: choices, MimeQA's judge, and judges held against people."""
