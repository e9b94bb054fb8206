"""What tests of several packages share: clocks and contract suites."""
