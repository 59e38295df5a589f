// Checkpoints: what a SavedModel's variables come from, and what training loops write.
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/within_memory.h"
#include "graph/saved_model/bundle/bundle_merge.h"
#include "graph/saved_model/bundle/bundle_reader.h"
#include "graph/saved_model/bundle/bundle_writer.h"
#include "plugin/cpu/files/file_facts.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Inputs 1 and 2: a name, and what part is meant, for each of `count` tensors.
absl::Status CheckNames(const Tensor& names, const Tensor& parts, size_t count) {
  const Shape wanted({static_cast<int64_t>(count)});
  if (names.shape() == wanted && parts.shape() == wanted) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("tensor_names have shape ", names.shape().ToString(), ", shape_and_slices ",
                   parts.shape().ToString(), " where ", wanted.ToString(), " is wanted"));
}

absl::Status OfTensor(std::string_view name, const absl::Status& status) {
  return Annotate(status, absl::StrCat("tensor '", name, "': "));
}

absl::StatusOr<Tensor> Restore(BundleReader& reader, std::string_view name, std::string_view part,
                               DataType type) {
  TENON_ASSIGN_OR_RETURN(const BundleReader::TensorInfo info, reader.Find(name));
  if (info.dtype != type) {
    return absl::InvalidArgumentError(absl::StrCat(reader.index().path(), ": tensor '", name,
                                                   "' is ", DataTypeName(info.dtype), " where ",
                                                   DataTypeName(type), " is wanted"));
  }
  if (part.empty()) return reader.Read(name);
  const absl::StatusOr<ShapeAndSlice> wanted = ShapeAndSlice::Parse(part);
  if (!wanted.ok()) return OfTensor(name, wanted.status());
  if (!(wanted->shape == info.shape)) {
    return absl::InvalidArgumentError(absl::StrCat(
        reader.index().path(), ": tensor '", name, "' has shape ", info.shape.ToString(),
        " where a part of ", wanted->shape.ToString(), " is wanted"));
  }
  const absl::StatusOr<Region> region = wanted->slice.In(info.shape);
  if (!region.ok()) return OfTensor(name, region.status());
  return reader.ReadRegion(name, *region);
}

absl::Status RunRestore(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FileFacts*>(state);
  TENON_ASSIGN_OR_RETURN(std::string prefix, TextInput(args, 0, "prefix"));
  const Tensor names = args.run_state->Input(1), parts = args.run_state->Input(2);
  TENON_RETURN_IF_ERROR(CheckNames(names, parts, s.outputs.size()));
  // Sizes in the file decide what is allocated, so memory may run out anywhere here.
  return WithinMemory([&]() -> absl::Status {
    TENON_ASSIGN_OR_RETURN(BundleReader reader,
                           BundleReader::Open(std::move(prefix), [&s](std::string_view path) {
                             return s.files.ForReading(path);
                           }));
    for (size_t i = 0; i < s.outputs.size(); ++i) {
      const auto k = static_cast<int>(i);
      TENON_ASSIGN_OR_RETURN(Tensor value,
                             Restore(reader, names.StringAt(k), parts.StringAt(k), s.outputs[i]));
      args.run_state->SetOutput(k, std::move(value));
    }
    return absl::OkStatus();
  });
}

absl::Status Save(BundleWriter& writer, std::string_view name, std::string_view part,
                  const Tensor& value) {
  if (part.empty()) return writer.Add(name, value);
  const absl::StatusOr<ShapeAndSlice> whole = ShapeAndSlice::Parse(part);
  return whole.ok() ? writer.AddPart(name, *whole, value) : OfTensor(name, whole.status());
}

absl::Status RunSave(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FileFacts*>(state);
  TENON_ASSIGN_OR_RETURN(const std::string prefix, TextInput(args, 0, "prefix"));
  const Tensor names = args.run_state->Input(1), parts = args.run_state->Input(2);
  const size_t count = s.inputs.size() - 3;
  TENON_RETURN_IF_ERROR(CheckNames(names, parts, count));
  return WithinMemory([&]() -> absl::Status {
    TENON_ASSIGN_OR_RETURN(std::string path, s.files.ForWriting(prefix));
    TENON_ASSIGN_OR_RETURN(BundleWriter writer, BundleWriter::Create(std::move(path)));
    for (size_t i = 0; i < count; ++i) {
      const auto k = static_cast<int>(i);
      TENON_RETURN_IF_ERROR(
          Save(writer, names.StringAt(k), parts.StringAt(k), args.run_state->Input(3 + k)));
    }
    return writer.Finish();
  });
}

struct MergeState : FileFacts {
  explicit MergeState(const Prepare& p) : FileFacts(p) {}
  bool delete_old_dirs = false, allow_missing = false;
};

// Folders that are empty now. rmdir refuses others, which is why its failure is no error.
void RemoveFolders(const std::vector<std::string>& prefixes, const std::string& destination) {
  using std::filesystem::path;
  const path kept = path(destination).parent_path();
  for (const std::string& prefix : prefixes) {
    const path folder = path(prefix).parent_path();
    if (folder != kept) ::rmdir(folder.c_str());
  }
}

absl::Status RunMerge(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MergeState*>(state);
  const Tensor prefixes = args.run_state->Input(0);
  TENON_ASSIGN_OR_RETURN(std::string destination, TextInput(args, 1, "destination_prefix"));
  return WithinMemory([&]() -> absl::Status {
    TENON_ASSIGN_OR_RETURN(destination, s.files.ForWriting(destination));
    std::vector<std::string> paths;
    for (int64_t i = 0; i < prefixes.num_elements(); ++i) {
      TENON_ASSIGN_OR_RETURN(std::string path, s.files.ForWriting(prefixes.StringAt(i)));
      paths.push_back(std::move(path));
    }
    TENON_RETURN_IF_ERROR(MergeBundles(paths, destination, s.allow_missing));
    if (s.delete_old_dirs) RemoveFolders(paths, destination);
    return absl::OkStatus();
  });
}

absl::Status PrepareMerge(Prepare& p) {
  auto s = std::make_shared<MergeState>(p);
  TENON_ASSIGN_OR_RETURN(s->delete_old_dirs, p.AttrBool("delete_old_dirs"));
  TENON_ASSIGN_OR_RETURN(s->allow_missing, p.AttrBool("allow_missing_files"));
  p.set_run(&RunMerge, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> CheckpointKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("RestoreV2", PrepareWhole<&RunRestore, FileFacts>),
      WholeTensorKernel("SaveV2", PrepareWhole<&RunSave, FileFacts>),
      WholeTensorKernel("MergeV2Checkpoints", PrepareMerge),
  };
  return specs;
}

}  // namespace tenon::cpu
