// The defects of a graph, and the functions that find them. All functions are thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace tenon {

enum class DefectCode : uint8_t {
  kLimit,       // a constant exceeds max_const_bytes; or, not found by import, a rank its limit
  kName,        // a node name is malformed or stands twice
  kUnknownOp,   // no OpDef and no function has the op's name
  kArity,       // the number of inputs does not fit the OpDef
  kInput,       // an unknown node, a bad port, a data input after a control input
  kType,        // the type of an input does not match
  kAttr,        // an attribute is missing, of a wrong type or not allowed
  kCycle,       // a cycle that is no legal loop
  kColocation,  // _class names an unknown node
  kDevice,      // a malformed device string
  kConst,       // a tensor does not decode, or has another type than its Const says
  kShape,       // a shape function refuses the node
  kPlugin,      // a plug-in's shape function fails: the graph may be right
  kFunction,    // a function is malformed or stands twice
  kNoFunction,  // an attribute names a function that the library lacks
  kVersion,     // the graph's versions are malformed or do not fit; an op is deprecated
  kKernel,      // no device can run the node; import does not look for this
  kSignature,   // of a SavedModel: a signature, saver, initializer or asset that names no tensor of
                // the graph, or an asset outside of its folder
};

struct Defect {
  DefectCode code;
  std::string where;             // "file:line:col", "file: byte N", "file", "node 'x'" or empty
  std::string node;              // empty for defects of the file, or of a function as a whole
  std::string message;           // the fault, in one line
  bool in_function = false;      // in a function of the library
  std::string ToString() const;  // "where: message"
};

// Whether the defect is a node of an unknown op, the name of a missing function, or a cycle in the
// body of a function. A run may succeed in spite of it: perhaps no fetch needs the node or the
// function.
inline bool MayBeUnused(const Defect& defect) {
  return defect.code == DefectCode::kUnknownOp || defect.code == DefectCode::kNoFunction ||
         (defect.code == DefectCode::kCycle && defect.in_function);
}

// Returns every defect of a graph and of its functions: first of the versions, then of nodes in the
// order of ids, then of functions. For graphs that passes or plug-ins changed. Import does the same
// for files, but refuses names that start with an underscore. Shapes are not checked at nodes with
// another defect, nor in a graph with an illegal cycle. Linear in the graph.
std::vector<Defect> Verify(const Graph& graph);
// Verify without the functions of the library, their names and signatures included. If `sound` is
// given, the graph must be an edited copy of `sound` that shares its storage, and `sound` must have
// no defects: names, ops and attributes that `sound` has too are not checked again.
std::vector<Defect> VerifyNodes(const Graph& graph, const Graph* sound = nullptr);

}  // namespace tenon
