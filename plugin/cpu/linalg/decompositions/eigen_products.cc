// The one source that compiles the products of eigen_products.inc.
#define TENON_PRODUCT template
#include "plugin/cpu/linalg/decompositions/eigen_products.inc"
