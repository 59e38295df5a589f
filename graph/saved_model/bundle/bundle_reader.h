// Reads checkpoints in TensorFlow's second format. A checkpoint is `prefix.index`, a table of
// tensors, and data files with the tensors' bytes: `prefix.data-00000-of-00001`, and more.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/saved_model/bundle/data_file.h"
#include "graph/saved_model/bundle/index_table.h"
#include "graph/saved_model/bundle/tensor_slice.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Returns the path to open for a file of the checkpoint, or an error if the file may not be read.
// Called before each file is opened.
using ResolvePath = std::function<absl::StatusOr<std::string>(std::string_view path)>;

// A checkpoint that is open for reading. Nothing in the files is trusted: sizes are compared with
// those of the files before memory is allocated, and checksums are compared. Most messages name the
// file and the tensor.
// NOT_FOUND: the file or the tensor does not exist.
// DATA_LOSS: a file is damaged, or the stored parts of a tensor overlap or leave elements out.
// UNIMPLEMENTED: big-endian files, later versions, resources and variants.
// RESOURCE_EXHAUSTED: memory is short; reading a tensor may throw bad_alloc instead.
// Other errors are those of ResolvePath, IndexTable::Open, DataFile::Open and DataFile::Read.
// Not thread-safe.
class BundleReader {
 public:
  // Reads the index and checks its header. An entry is checked when it is asked for. A data file is
  // opened when it is first read.
  static absl::StatusOr<BundleReader> Open(std::string prefix, ResolvePath resolve);

  int num_shards() const { return num_shards_; }
  const IndexTable& index() const { return index_; }

  struct TensorInfo {
    DataType dtype = DataType::kInvalid;
    Shape shape;
  };
  // Find returns the type and the whole shape of a tensor without its data. Read returns the
  // tensor, whole even if it is stored in parts, in memory of its own.
  absl::StatusOr<TensorInfo> Find(std::string_view name) const;
  absl::StatusOr<Tensor> Read(std::string_view name);
  // Returns the part of the tensor in `region`, as a tensor of the region's shape. The caller has
  // checked that the region lies within the tensor's shape (Find). A tensor that is stored in one
  // piece is read whole; of a tensor in parts, each part that has an element of the region is.
  absl::StatusOr<Tensor> ReadRegion(std::string_view name, const Region& region);

 private:
  struct Stored;  // where a tensor, or a slice of one, lies
  struct Piece;   // the part of a Stored that is wanted

  BundleReader(std::string prefix, ResolvePath resolve, IndexTable index)
      : prefix_(std::move(prefix)), resolve_(std::move(resolve)), index_(std::move(index)) {}

  absl::StatusOr<std::optional<Stored>> Lookup(const std::string& key, std::string_view name) const;
  absl::StatusOr<Stored> LookupTensor(std::string_view name) const;
  absl::StatusOr<const DataFile*> Shard(int shard);
  absl::StatusOr<const DataFile*> CheckedShard(const Stored& stored);
  absl::Status ReadPlain(const Stored& stored, void* to);
  absl::StatusOr<Tensor> ReadStrings(const Stored& stored);
  absl::StatusOr<Tensor> ReadStored(const Stored& stored);
  absl::StatusOr<std::vector<Piece>> PiecesOf(const Stored& whole, const Region& wanted);
  absl::Status Place(const Piece& piece, const Region& region, const Tensor& tensor,
                     std::vector<bool>& there);

  std::string prefix_;
  ResolvePath resolve_;
  IndexTable index_;
  int num_shards_ = 0;
  std::map<int, DataFile> shards_;  // the open ones, by number
};

}  // namespace tenon
