// Empty on purpose: a shim has a name and a dependency, nothing else.
typedef int tenon_shim;
