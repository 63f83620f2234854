// Loops over the functions of a library for a group of points. The caller passes the functions: the kernels neither
// contain nor link cryptography.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "workers.hpp"

namespace kohorte {

constexpr std::size_t kPointBytes = 32;
constexpr std::size_t kScalarBytes = 32;
constexpr std::size_t kHashBytes = 64;

// Points or scalars, one after another; a single one stands for as many as are needed.
class PointRows {
 public:
  PointRows(const std::uint8_t* data, std::size_t rows, std::size_t bytes) : data_(data), rows_(rows), bytes_(bytes) {}
  std::size_t rows() const { return rows_; }
  std::size_t bytes() const { return bytes_; }
  const std::uint8_t* operator[](std::size_t row) const { return data_ + (rows_ == 1 ? 0 : row * bytes_); }

 private:
  const std::uint8_t* data_;
  std::size_t rows_;
  std::size_t bytes_;
};

constexpr std::int64_t kNone = -1;

// The answers, and the first row that the library refused, or kNone. A refused row of the answers is zero.
struct PointAnswers {
  std::vector<std::uint8_t> points;
  std::int64_t first_refused;
};

// The functions of the library; all but is_valid return 0 if they accept their arguments.
struct PointFunctions {
  int (*multiply)(unsigned char* product, const unsigned char* scalar, const unsigned char* point);
  int (*multiply_base)(unsigned char* product, const unsigned char* scalar);
  int (*add)(unsigned char* sum, const unsigned char* one, const unsigned char* other);
  int (*subtract)(unsigned char* difference, const unsigned char* one, const unsigned char* other);
  int (*from_hash)(unsigned char* point, const unsigned char* hash);
  int (*is_valid)(const unsigned char* point);
};

class Ristretto {
 public:
  explicit Ristretto(PointFunctions functions, std::size_t threads = std::thread::hardware_concurrency())
      : library_(functions), threads_(std::max<std::size_t>(threads, 1)) {}

  PointAnswers multiply(PointRows scalars, PointRows points) const {
    check_width(scalars, kScalarBytes);
    check_width(points, kPointBytes);
    return each(common_rows(scalars, points), [&](std::size_t row, std::uint8_t* answer) {
      return library_.multiply(answer, scalars[row], points[row]) == 0;
    });
  }

  PointAnswers multiply_base(PointRows scalars) const {
    check_width(scalars, kScalarBytes);
    return each(scalars.rows(), [&](std::size_t row, std::uint8_t* answer) {
      return library_.multiply_base(answer, scalars[row]) == 0;
    });
  }

  PointAnswers add(PointRows one, PointRows other) const { return combine(library_.add, one, other); }
  PointAnswers subtract(PointRows one, PointRows other) const { return combine(library_.subtract, one, other); }

  PointAnswers from_hash(PointRows hashes) const {
    check_width(hashes, kHashBytes);
    return each(hashes.rows(), [&](std::size_t row, std::uint8_t* answer) {
      return library_.from_hash(answer, hashes[row]) == 0;
    });
  }

  std::int64_t first_invalid(PointRows points) const {
    check_width(points, kPointBytes);
    return first_refused(points.rows(), [&](std::size_t row) { return library_.is_valid(points[row]) == 1; });
  }

  // The sum of the points of each group. Refused points are left out; an empty group has the sum zero, which is how the
  // neutral element is encoded.
  PointAnswers sum_groups(PointRows points, std::span<const std::uint32_t> group_of, std::size_t groups) const {
    check_width(points, kPointBytes);
    if (group_of.size() != points.rows()) throw std::invalid_argument("points and groups do not fit together");
    const Sorted sorted = sort_by_group(group_of, groups);
    Sums sums{std::vector<std::uint8_t>(groups * kPointBytes), {}};
    const std::size_t pieces = (points.rows() + kPiece - 1) / kPiece;
    sums.carried.resize(pieces * kPointBytes);
    First first;
    in_pieces(pieces, [&](std::size_t piece) { sum_piece(points, group_of, sorted, piece, sums, first); });
    for (std::size_t piece = 1; piece < pieces; ++piece) {
      const std::size_t group = group_of[sorted.order[piece * kPiece]];
      if (sorted.starts[group] == piece * kPiece) continue;
      auto* sum = &sums.whole[group * kPointBytes];
      library_.add(sum, sum, &sums.carried[piece * kPointBytes]);
    }
    return {std::move(sums.whole), first.found()};
  }

 private:
  // Rows that a thread takes at a time: some milliseconds of work.
  static constexpr std::size_t kPiece = 64;

  // The first of the rows that threads report.
  class First {
   public:
    void report(std::size_t row) {
      const auto value = static_cast<std::int64_t>(row);
      auto known = row_.load();
      while ((known == kNone || value < known) && !row_.compare_exchange_weak(known, value)) {
      }
    }
    std::int64_t found() const { return row_.load(); }

   private:
    std::atomic<std::int64_t> row_{kNone};
  };

  struct Sorted {
    std::vector<std::size_t> starts;
    std::vector<std::size_t> order;
  };

  // `carried[piece]` is what the piece adds to a group that an earlier piece began.
  struct Sums {
    std::vector<std::uint8_t> whole;
    std::vector<std::uint8_t> carried;
  };

  static void check_width(const PointRows& rows, std::size_t bytes) {
    if (rows.bytes() != bytes) throw std::invalid_argument("points, scalars or hashes of another length");
  }

  static std::size_t common_rows(const PointRows& one, const PointRows& other) {
    if (one.rows() != other.rows() && one.rows() != 1 && other.rows() != 1) {
      throw std::invalid_argument("unequal numbers of rows");
    }
    return one.rows() == 1 ? other.rows() : one.rows();
  }

  static Sorted sort_by_group(std::span<const std::uint32_t> group_of, std::size_t groups) {
    Sorted sorted{std::vector<std::size_t>(groups + 1), std::vector<std::size_t>(group_of.size())};
    for (const std::size_t group : group_of) {
      if (group >= groups) throw std::invalid_argument("a group that does not exist");
      ++sorted.starts[group + 1];
    }
    for (std::size_t group = 0; group < groups; ++group) sorted.starts[group + 1] += sorted.starts[group];
    auto next = sorted.starts;
    for (std::size_t row = 0; row < group_of.size(); ++row) sorted.order[next[group_of[row]]++] = row;
    return sorted;
  }

  void sum_piece(const PointRows& points, std::span<const std::uint32_t> group_of, const Sorted& sorted,
                 std::size_t piece, Sums& sums, First& first) const {
    const std::size_t end = std::min((piece + 1) * kPiece, points.rows());
    std::uint8_t* sum = nullptr;
    bool empty = true;
    for (std::size_t place = piece * kPiece; place < end; ++place) {
      const std::size_t row = sorted.order[place];
      const std::size_t group = group_of[row];
      const bool begins = sorted.starts[group] == place;
      if (begins || sum == nullptr) {
        sum = begins ? &sums.whole[group * kPointBytes] : &sums.carried[piece * kPointBytes];
        empty = true;
      }
      if (empty && library_.is_valid(points[row]) == 1) {
        std::memcpy(sum, points[row], kPointBytes);
        empty = false;
      } else if (empty || library_.add(sum, sum, points[row]) != 0) {
        first.report(row);
      }
    }
  }

  template <typename Combine>
  PointAnswers combine(Combine function, const PointRows& one, const PointRows& other) const {
    check_width(one, kPointBytes);
    check_width(other, kPointBytes);
    return each(common_rows(one, other), [&](std::size_t row, std::uint8_t* answer) {
      return function(answer, one[row], other[row]) == 0;
    });
  }

  template <typename Run>
  PointAnswers each(std::size_t rows, const Run& run) const {
    std::vector<std::uint8_t> answers(rows * kPointBytes);
    const auto first = first_refused(rows, [&](std::size_t row) {
      auto* answer = &answers[row * kPointBytes];
      const bool accepted = run(row, answer);
      if (!accepted) std::memset(answer, 0, kPointBytes);
      return accepted;
    });
    return {std::move(answers), first};
  }

  template <typename Run>
  std::int64_t first_refused(std::size_t rows, const Run& run) const {
    First first;
    in_pieces((rows + kPiece - 1) / kPiece, [&](std::size_t piece) {
      const std::size_t end = std::min((piece + 1) * kPiece, rows);
      for (std::size_t row = piece * kPiece; row < end; ++row) {
        if (!run(row)) first.report(row);
      }
    });
    return first.found();
  }

  // Runs all pieces, in this thread if there is only one.
  template <typename Run>
  void in_pieces(std::size_t pieces, const Run& run) const {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (auto piece = next.fetch_add(1); piece < pieces; piece = next.fetch_add(1)) run(piece);
    };
    if (threads_ == 1 || pieces <= 1) return work();
    Workers workers(std::min(threads_, pieces));
    std::vector<std::future<void>> working;
    for (std::size_t i = 0; i < std::min(threads_, pieces); ++i) working.push_back(workers.submit(work));
    for (auto& done : working) done.get();
  }

  PointFunctions library_;
  std::size_t threads_;
};

}  // namespace kohorte
