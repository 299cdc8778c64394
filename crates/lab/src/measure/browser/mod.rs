//! Real browsers on the hosts of a run, driven over WebDriver.
