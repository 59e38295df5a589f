// Reads checkpoints in TensorFlow's second format: `prefix.index`, a table of tensors, and their
// bytes in `prefix.data-00000-of-00001` and further data files.
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

// Which path to open for a file; an error if it may not be read.
using ResolvePath = std::function<absl::StatusOr<std::string>(std::string_view path)>;

// Nothing in the files is believed: sizes are compared with the files' before memory is taken, and
// checksums are compared. Messages name the file and the tensor. NOT_FOUND for a file or a tensor
// that is not there, DATA_LOSS where files are damaged, UNIMPLEMENTED for big-endian files and for
// variants. Not thread-safe.
class BundleReader {
 public:
  static absl::StatusOr<BundleReader> Open(std::string prefix, ResolvePath resolve);

  int num_shards() const { return num_shards_; }
  const IndexTable& index() const { return index_; }

  struct TensorInfo {
    DataType dtype = DataType::kInvalid;
    Shape shape;
  };
  absl::StatusOr<TensorInfo> Find(std::string_view name) const;
  absl::StatusOr<Tensor> Read(std::string_view name);
  // The part of it that lies in `region`, which lies within its shape.
  absl::StatusOr<Tensor> ReadRegion(std::string_view name, const Region& region);

 private:
  struct Stored;  // where one tensor, or one slice of one, is
  struct Piece;   // what of it is wanted

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
  std::map<int, DataFile> shards_;  // those in use
};

}  // namespace tenon
