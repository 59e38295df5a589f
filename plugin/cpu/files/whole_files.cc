// Files as single strings, and lists of their names.
#include <glob.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/base/file_bytes.h"
#include "graph/base/file_writer.h"
#include "graph/base/node_note.h"
#include "graph/base/within_memory.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/files/file_facts.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

// TensorFlow asks the system for a file without a name.
absl::Status NamelessFile() {
  return NoteAnswer(absl::InvalidArgumentError("the name of a file is empty"),
                    absl::StatusCode::kNotFound, "; No such file or directory");
}

absl::Status RunReadFile(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FileFacts*>(state);
  TENON_ASSIGN_OR_RETURN(const std::string name, TextInput(args, 0, "name of the file"));
  if (name.empty()) return NamelessFile();
  return WithinMemory([&]() -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::string path, s.files.ForReading(name));
    const absl::StatusOr<FileBytes> file = ReadFile(path, SIZE_MAX);
    if (file.ok()) return SetTextOutput(args, file->bytes);
    // TensorFlow names the file as the program does.
    std::string_view reason = file.status().message();
    if (!absl::ConsumePrefix(&reason, absl::StrCat(path, ": "))) return file.status();
    return NoteAnswer(file.status(), file.status().code(), absl::StrCat(name, "; ", reason));
  });
}

absl::Status RunWriteFile(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FileFacts*>(state);
  TENON_ASSIGN_OR_RETURN(const std::string name, TextInput(args, 0, "name of the file"));
  TENON_ASSIGN_OR_RETURN(const std::string contents, TextInput(args, 1, "contents"));
  if (name.empty()) return NamelessFile();
  TENON_ASSIGN_OR_RETURN(const std::string path, s.files.ForWriting(name));
  std::error_code error;  // shows when the file is written
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  return WriteFile(path, contents);
}

// The names that match, each of which may be read.
absl::Status Match(const FileAccess& files, const std::string& pattern,
                   std::vector<std::string>& names) {
  if (pattern.empty()) return absl::OkStatus();
  // The pattern is asked about first, so that it cannot tell what lies outside of the folders that
  // may be read; then each name, since a link in the middle may lead out of them.
  TENON_RETURN_IF_ERROR(files.ForReading(pattern).status());
  glob_t found{};
  const absl::Cleanup free_found = [&found] { globfree(&found); };
  // Unsorted: the names of all patterns are sorted together at the end.
  const int failed = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  if (failed == GLOB_NOMATCH) return absl::OkStatus();
  if (failed != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat(pattern, ": the names that match could not be listed"));
  }
  for (size_t i = 0; i < found.gl_pathc; ++i) {
    TENON_RETURN_IF_ERROR(files.ForReading(found.gl_pathv[i]).status());
    names.push_back(found.gl_pathv[i]);
  }
  return absl::OkStatus();
}

absl::Status RunMatchingFiles(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FileFacts*>(state);
  const Tensor patterns = args.run_state->Input(0);
  if (patterns.shape().rank() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "patterns must be a scalar or a vector, their shape is ", patterns.shape().ToString()));
  }
  return WithinMemory([&]() -> absl::Status {
    std::vector<std::string> names;
    for (int64_t i = 0; i < patterns.num_elements(); ++i)
      TENON_RETURN_IF_ERROR(Match(s.files, std::string(patterns.StringAt(i)), names));
    std::sort(names.begin(), names.end());
    TENON_ASSIGN_OR_RETURN(
        Tensor out,
        Tensor::Allocate(DataType::kString, Shape({static_cast<int64_t>(names.size())})));
    int64_t i = 0;
    for (const std::string& name : names) out.SetString(i++, name);
    args.run_state->SetOutput(0, std::move(out));
    return absl::OkStatus();
  });
}

}  // namespace

absl::Span<const CpuKernelSpec> WholeFileKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("ReadFile", PrepareWhole<&RunReadFile, FileFacts>),
      WholeTensorKernel("WriteFile", PrepareWhole<&RunWriteFile, FileFacts>),
      WholeTensorKernel("MatchingFiles", PrepareWhole<&RunMatchingFiles, FileFacts>),
  };
  return specs;
}

}  // namespace tenon::cpu
