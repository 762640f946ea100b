"""Calls to servers, whosever they are: tries, rates, time limits, prices, pictures and clips."""
