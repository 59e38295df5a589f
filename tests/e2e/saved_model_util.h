// The SavedModels of golden/saved_models, and copies of them.
#pragma once

#include <string>
#include <vector>

namespace tenon::testing {

inline constexpr const char* kSavedModels[] = {
    "affine_state",   "vocabulary",    "recurrent",        "branches",
    "v1_partitioned", "keras_objects", "keras_classifier", "composites",
    "nested_tables",  "v1_vocabulary", "v1_wrapped",       "v1_state"};

std::string Folder(const std::string& name);
std::string Cases(const std::string& name);

// A copy that a test may damage.
std::string CopyOf(const std::string& name, const std::string& as);

// The same with other bytes in saved_model.pb.
std::string CopyWith(const std::string& name, const std::string& as, const std::string& bytes,
                     const std::string& instead);

// Nodes of graphs in text; `inputs` and `attrs` as there. The second is of a variable of two
// floats.
std::string TextNode(const std::string& name, const std::string& op, const std::string& inputs,
                     const std::string& attrs = "");
std::string TextVarHandle(const std::string& name, const std::string& shared_name);

// A folder with a SavedModel in text: the nodes and the library in `graph`, a Placeholder "x" of
// two floats, and a signature from it to node "y". Node "init" initializes it: it sets `variables`,
// nodes of variables in the graph, to [2, 3].
std::string WriteSavedModel(const std::string& as, const std::string& graph,
                            const std::vector<std::string>& variables);

}  // namespace tenon::testing
