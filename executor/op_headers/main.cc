// op_headers TEXTS OUT FAMILY...: writes OUT/tenon/ops/<family>.h for each of the families, which
// must be all that there are, and OUT/tenon/ops.h. TEXTS is graph/op_docs. Files that would not
// change are left alone, other headers in OUT/tenon/ops are removed.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "executor/op_headers/cpp_text.h"
#include "executor/op_headers/families.h"
#include "executor/op_headers/wrapper.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_registry.h"

namespace tenon::op_headers {
namespace {

absl::Status Write(const std::filesystem::path& path, const std::string& content) {
  std::ifstream before(path, std::ios::binary);
  if (before && std::string(std::istreambuf_iterator<char>(before), {}) == content) {
    return absl::OkStatus();
  }
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << content << std::flush;
  if (!file) return absl::UnavailableError(absl::StrCat("Cannot write ", path.string()));
  return absl::OkStatus();
}

// Removes headers of families that are no more, which an older build has left. No include names
// them, but an installation would hold them.
absl::Status RemoveOthers(const std::filesystem::path& folder, absl::Span<char* const> families) {
  std::error_code error;
  std::vector<std::filesystem::path> others;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::filesystem::path& path = entry.path();
    const bool is_family = std::any_of(families.begin(), families.end(), [&](const char* family) {
      return path.filename() == absl::StrCat(family, ".h");
    });
    if (path.extension() == ".h" && !is_family) others.push_back(path);
  }
  for (const std::filesystem::path& path : others) {
    if (!std::filesystem::remove(path, error))
      return absl::UnavailableError(absl::StrCat("Cannot remove ", path.string()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> FamilyText(const Family& family, const OpTexts& texts) {
  std::string out = Comment(
      0, absl::StrCat(family.content,
                      ": a function for each op. Ops run at once, or become nodes of the function "
                      "that this thread traces. Written from the ops' definitions."));
  absl::StrAppend(&out,
                  "#pragma once\n\n#include <cstdint>\n#include <limits>\n#include <string>\n"
                  "#include <tuple>\n#include <vector>\n\n#include \"tenon/op_input.h\"\n#include "
                  "\"tenon/op_outputs.h\"\n\n"
                  "namespace tenon::inline v0::ops {\n");
  for (const std::string_view name : family.ops) {
    const OpDef* const op = OpRegistry::Global().Find(name);
    const auto text = texts.find(name);
    if (op == nullptr || text == texts.end()) {
      return absl::NotFoundError(absl::StrCat("No text of the op ", name));
    }
    TENON_ASSIGN_OR_RETURN(const std::string wrapper, WrapperText(*op, text->second));
    absl::StrAppend(&out, "\n", wrapper);
  }
  absl::StrAppend(&out, "\n}  // namespace tenon::inline v0::ops\n");
  return out;
}

absl::Status Main(absl::Span<char* const> args) {
  if (args.size() < 2) return absl::InvalidArgumentError("usage: op_headers TEXTS OUT FAMILY...");
  const std::filesystem::path folder = std::filesystem::path(args[1]) / "tenon";
  args.remove_prefix(2);
  TENON_ASSIGN_OR_RETURN(const OpTexts texts, ReadOpTexts(args.data()[-2]));
  TENON_ASSIGN_OR_RETURN(const std::vector<Family> families, Families());
  std::string all = "// Functions for all ops, by family.\n#pragma once\n\n";
  for (size_t i = 0; i < families.size(); ++i) {
    if (args.size() != families.size() || args[i] != families[i].name) {
      return absl::InvalidArgumentError(absl::StrCat(
          "The families' names in CMakeLists.txt are not those of families.cc, such as ",
          families[i].name));
    }
    TENON_ASSIGN_OR_RETURN(const std::string text, FamilyText(families[i], texts));
    TENON_RETURN_IF_ERROR(Write(folder / "ops" / absl::StrCat(families[i].name, ".h"), text));
    absl::StrAppend(&all, "#include \"tenon/ops/", families[i].name, ".h\"\n");
  }
  TENON_RETURN_IF_ERROR(RemoveOthers(folder / "ops", args));
  return Write(folder / "ops.h", all);
}

}  // namespace
}  // namespace tenon::op_headers

int main(int argc, char** argv) {
  const absl::Status status = tenon::op_headers::Main(
      absl::MakeConstSpan(argv, static_cast<size_t>(argc)).subspan(argc > 0 ? 1 : 0));
  if (!status.ok()) std::cerr << "op_headers: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
