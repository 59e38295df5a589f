// The SavedModels of golden/saved_models, and copies of them.
#pragma once

#include <string>

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

}  // namespace tenon::testing
