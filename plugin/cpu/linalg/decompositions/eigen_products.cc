#define TENON_PRODUCT template
#include "plugin/cpu/linalg/decompositions/eigen_products.inc"
