// Shapes of tensors. A `Shape` is fully known; a `PartialShape` may lack dimensions or the rank.
// Sizes count elements. Both are plain values: not thread-safe to change.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tenon {

// TensorFlow's limit on the number of dimensions.
inline constexpr int kMaxRank = 254;
inline constexpr int64_t kUnknownDim = -1;

using Dims = absl::InlinedVector<int64_t, 6>;

// A fully known shape: each dimension is at least 0, and the product of those above 0 fits int64. A
// default Shape is that of a scalar: rank 0, one element; so is one that was moved from. Nothing
// checks an index i, which must be in [0, rank), nor a size that set_dim or push_back takes.
class Shape {
 public:
  Shape() = default;
  // Takes dimensions that the caller knows to be valid, without a check. For dimensions from files,
  // users or plug-ins use Make.
  explicit Shape(absl::Span<const int64_t> dims) { Copy(dims); }
  Shape(std::initializer_list<int64_t> dims) { Copy(dims); }
  Shape(const Shape& o) { Copy(o.dims()); }
  Shape(Shape&& o) noexcept { Take(o); }
  Shape& operator=(const Shape& o);
  Shape& operator=(Shape&& o) noexcept;
  ~Shape() { Free(); }

  // INVALID_ARGUMENT for a negative dimension, for a rank above kMaxRank, and where the product of
  // the dimensions above 0 exceeds 2^63-1, even if another dimension is 0.
  static absl::StatusOr<Shape> Make(absl::Span<const int64_t> dims);

  int rank() const { return rank_; }
  int64_t dim(int i) const { return dims()[i]; }
  absl::Span<const int64_t> dims() const { return {on_heap() ? heap_ : here_, size_t(rank_)}; }
  void set_dim(int i, int64_t size) { (on_heap() ? heap_ : here_)[i] = size; }
  void push_back(int64_t size);
  int64_t num_elements() const;
  std::string ToString() const;  // "[2,3]"

  friend bool operator==(const Shape& a, const Shape& b) { return a.dims() == b.dims(); }

  template <typename H>
  friend H AbslHashValue(H h, const Shape& s) {
    return H::combine(std::move(h), s.dims());
  }

 private:
  static constexpr int kInPlace = 6;

  bool on_heap() const { return rank_ > kInPlace; }
  void Copy(absl::Span<const int64_t> dims) {
    int64_t* const to = dims.size() > kInPlace ? heap_ = new int64_t[dims.size()] : here_;
    rank_ = static_cast<int>(dims.size());
    for (int i = 0; i < rank_; ++i) to[i] = dims[i];
  }
  void Take(Shape& o) {
    if (o.on_heap()) {
      rank_ = o.rank_;
      heap_ = o.heap_;
    } else {
      Copy(o.dims());
    }
    o.rank_ = 0;
  }
  void Free() {
    if (on_heap()) delete[] heap_;
    rank_ = 0;
  }

  // Not an InlinedVector: moving one copies its whole storage, which stalls on bytes that were just
  // written in smaller pieces, and each call of a kernel moves several shapes.
  int rank_ = 0;
  union {
    int64_t here_[kInPlace];
    int64_t* heap_;
  };
};

inline Shape& Shape::operator=(const Shape& o) {
  if (this == &o) return *this;
  Free();
  Copy(o.dims());
  return *this;
}

inline Shape& Shape::operator=(Shape&& o) noexcept {
  if (this == &o) return *this;
  Free();
  Take(o);
  return *this;
}

// A shape whose rank or single dimensions (kUnknownDim) may be unknown. A default PartialShape has
// unknown rank. Constructors and UnknownOfRank check nothing: a rank must be in [0, kMaxRank].
// Neither they nor set_dim, push_back and Merge look at the product of dimensions, which must fit
// int64 where num_elements or ToShape is asked. set_dim and push_back need a known rank; the i of
// set_dim must be in [0, rank).
class PartialShape {
 public:
  PartialShape() = default;
  PartialShape(const Shape& shape)
      : known_rank_(true), dims_(shape.dims().begin(), shape.dims().end()) {}  // NOLINT: widening
  explicit PartialShape(absl::Span<const int64_t> dims)
      : known_rank_(true), dims_(dims.begin(), dims.end()) {}
  PartialShape(std::initializer_list<int64_t> dims) : known_rank_(true), dims_(dims) {}
  static PartialShape UnknownOfRank(int rank) { return PartialShape(Dims(rank, kUnknownDim)); }

  // INVALID_ARGUMENT for a dimension below -1, for a rank above kMaxRank, and where the product of
  // the dimensions above 0 exceeds 2^63-1, even if another dimension is 0.
  static absl::StatusOr<PartialShape> Make(absl::Span<const int64_t> dims);

  bool known_rank() const { return known_rank_; }
  int rank() const { return known_rank_ ? static_cast<int>(dims_.size()) : -1; }
  // Returns kUnknownDim where the rank or the dimension is unknown, and for an i outside of the
  // rank. Negative i counts from the end: -1 is the last dimension.
  int64_t dim(int i) const;
  absl::Span<const int64_t> dims() const { return dims_; }  // empty where the rank is unknown
  void set_dim(int i, int64_t size) { dims_[i] = size; }
  void push_back(int64_t size) { dims_.push_back(size); }
  bool fully_defined() const;
  // The shape, if rank and all dimensions are known; else nullopt.
  std::optional<Shape> ToShape() const;
  int64_t num_elements() const;  // 0 if a dimension is 0, else kUnknownDim unless all are known
  std::string ToString() const;  // "[2,?]", "<unknown>"

  // Whether the two do not contradict each other: true if a rank is unknown; else if the ranks are
  // equal, and so is each dimension that both know.
  bool CompatibleWith(const PartialShape& other) const;
  // Returns a shape with the rank and dimensions that either knows; INVALID_ARGUMENT where the two
  // contradict each other.
  absl::StatusOr<PartialShape> Merge(const PartialShape& other) const;

  // Whether both know the same: two unknown dimensions are equal.
  friend bool operator==(const PartialShape& a, const PartialShape& b) {
    return a.known_rank_ == b.known_rank_ && a.dims_ == b.dims_;
  }

 private:
  bool known_rank_ = false;
  Dims dims_;
};

}  // namespace tenon
