// What the module Darwin has and Glibc has not. A module of that name would mislead the test runner.
let SO_NWRITE: Int32 = 0x1024
