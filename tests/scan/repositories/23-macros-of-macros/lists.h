#pragma once
#define EACH_TYPE(MAKE, PASS) MAKE(float, PASS) MAKE(half, PASS)
