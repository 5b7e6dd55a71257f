library(testthat)
library(apportion)

test_check("apportion")
