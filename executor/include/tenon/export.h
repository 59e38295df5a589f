#pragma once

// Marks a C++ function that libtenon.so exports. The library's other C++ functions are hidden.
#define TENON_EXPORT __attribute__((visibility("default")))
