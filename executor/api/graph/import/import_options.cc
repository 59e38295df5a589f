// The functions of c_api.h for TF_ImportGraphDefOptions and TF_ImportGraphDefResults.
#include "executor/api/graph/import/import_options.h"

#include "absl/strings/string_view.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/c_api_experimental.h"

using tenon::IsThere;
using tenon::kControlPort;

extern "C" {

TF_ImportGraphDefOptions* TF_NewImportGraphDefOptions(void) try {
  return TF_ImportGraphDefOptions::Pool::New();
} catch (...) {
  return tenon::WithoutMemory();
}

void TF_DeleteImportGraphDefOptions(TF_ImportGraphDefOptions* opts) { tenon::DeleteHandle(opts); }

void TF_ImportGraphDefOptionsSetPrefix(TF_ImportGraphDefOptions* opts, const char* prefix) try {
  if (IsThere(opts)) opts->prefix = absl::NullSafeStringView(prefix);
} catch (...) {
  tenon::WithoutMemoryFor(opts);
}

void TF_ImportGraphDefOptionsSetDefaultDevice(TF_ImportGraphDefOptions* opts,
                                              const char* device) try {
  if (IsThere(opts)) opts->default_device = absl::NullSafeStringView(device);
} catch (...) {
  tenon::WithoutMemoryFor(opts);
}

void TF_ImportGraphDefOptionsSetUniquifyNames(TF_ImportGraphDefOptions* opts,
                                              unsigned char uniquify_names) {
  if (IsThere(opts)) opts->uniquify_names = uniquify_names != 0;
}

void TF_ImportGraphDefOptionsSetUniquifyPrefix(TF_ImportGraphDefOptions* opts,
                                               unsigned char uniquify_prefix) {
  if (IsThere(opts)) opts->uniquify_prefix = uniquify_prefix != 0;
}

void TF_ImportGraphDefOptionsSetValidateColocationConstraints(TF_ImportGraphDefOptions* opts,
                                                              unsigned char enable) {
  if (IsThere(opts)) opts->validate_colocation = enable != 0;
}

void TF_ImportGraphDefOptionsAddInputMapping(TF_ImportGraphDefOptions* opts, const char* src_name,
                                             int src_index, TF_Output dst) try {
  if (!IsThere(opts) || src_name == nullptr) return;
  opts->input_map[{src_name, src_index}] = dst;
} catch (...) {
  tenon::WithoutMemoryFor(opts);
}

void TF_ImportGraphDefOptionsRemapControlDependency(TF_ImportGraphDefOptions* opts,
                                                    const char* src_name, TF_Operation* dst) try {
  if (!IsThere(opts) || src_name == nullptr) return;
  opts->input_map[{src_name, kControlPort}] = {dst, kControlPort};
} catch (...) {
  tenon::WithoutMemoryFor(opts);
}

void TF_ImportGraphDefOptionsAddControlDependency(TF_ImportGraphDefOptions* opts,
                                                  TF_Operation* oper) try {
  if (IsThere(opts)) opts->control_dependencies.push_back(oper);
} catch (...) {
  tenon::WithoutMemoryFor(opts);
}

void TF_ImportGraphDefOptionsAddReturnOutput(TF_ImportGraphDefOptions* opts, const char* oper_name,
                                             int index) try {
  if (IsThere(opts)) opts->return_outputs.emplace_back(absl::NullSafeStringView(oper_name), index);
} catch (...) {
  tenon::WithoutMemoryFor(opts);
}

int TF_ImportGraphDefOptionsNumReturnOutputs(const TF_ImportGraphDefOptions* opts) {
  return IsThere(opts) ? static_cast<int>(opts->return_outputs.size()) : 0;
}

void TF_ImportGraphDefOptionsAddReturnOperation(TF_ImportGraphDefOptions* opts,
                                                const char* oper_name) try {
  if (IsThere(opts)) opts->return_operations.emplace_back(absl::NullSafeStringView(oper_name));
} catch (...) {
  tenon::WithoutMemoryFor(opts);
}

int TF_ImportGraphDefOptionsNumReturnOperations(const TF_ImportGraphDefOptions* opts) {
  return IsThere(opts) ? static_cast<int>(opts->return_operations.size()) : 0;
}

void TF_ImportGraphDefResultsReturnOutputs(TF_ImportGraphDefResults* results, int* num_outputs,
                                           TF_Output** outputs) {
  const bool none = !IsThere(results);
  if (num_outputs != nullptr) *num_outputs = none ? 0 : static_cast<int>(results->outputs.size());
  if (outputs != nullptr) *outputs = none ? nullptr : results->outputs.data();
}

void TF_ImportGraphDefResultsReturnOperations(TF_ImportGraphDefResults* results, int* num_opers,
                                              TF_Operation*** opers) {
  const bool none = !IsThere(results);
  if (num_opers != nullptr) *num_opers = none ? 0 : static_cast<int>(results->operations.size());
  if (opers != nullptr) *opers = none ? nullptr : results->operations.data();
}

void TF_ImportGraphDefResultsMissingUnusedInputMappings(TF_ImportGraphDefResults* results,
                                                        int* num_missing_unused_input_mappings,
                                                        const char*** src_names,
                                                        int** src_indexes) {
  const bool none = !IsThere(results);
  if (num_missing_unused_input_mappings != nullptr) {
    *num_missing_unused_input_mappings =
        none ? 0 : static_cast<int>(results->unused_indexes.size());
  }
  if (src_names != nullptr) *src_names = none ? nullptr : results->unused_name_texts.data();
  if (src_indexes != nullptr) *src_indexes = none ? nullptr : results->unused_indexes.data();
}

void TF_DeleteImportGraphDefResults(TF_ImportGraphDefResults* results) {
  tenon::DeleteHandle(results);
}

}  // extern "C"
