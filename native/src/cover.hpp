// Chooses the next node of a lattice by a guess that is a sum over the attributes.
//
// A lattice of the given shape is stored as a flat array, last axis fastest. A guess for node i * right.size() + j is
// left[i] + right[j]: the sums over the first and the second half of the attributes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace kohorte {

using Flags = std::span<const std::uint8_t>;
using Numbers = std::span<const double>;

struct Cover {
  std::int64_t index = -1;  // -1: no node covers anything
  double gain = 0.0;
};

namespace detail {

// Rows of an array that lie `stride` apart along one axis of a lattice.
struct Axis {
  std::size_t length;
  std::size_t stride;

  std::size_t block() const { return length * stride; }
};

inline std::vector<Axis> axes(std::span<const std::size_t> shape) {
  std::vector<Axis> all(shape.size());
  std::size_t stride = 1;
  for (std::size_t a = shape.size(); a-- > 0; stride *= shape[a]) all[a] = {shape[a], stride};
  return all;
}

inline constexpr std::size_t kShortStride = 16;
inline constexpr std::size_t kChunk = 256;

// Calls `visit(offset, length)` for all runs of nodes at one level of an axis.
template <typename Visit>
void at_level(const Axis& axis, std::size_t level, std::size_t size, Visit visit) {
  for (std::size_t begin = level * axis.stride; begin < size; begin += axis.block()) visit(begin, axis.stride);
}

// For runs that are too short for a loop of their own: visits all nodes with a mask that selects some. Calls
// `visit(offset, length, mask)` for chunks of nodes; `mask` is all ones at the chosen levels.
template <typename Number, typename Chosen, typename Visit>
void masked(const Axis& axis, std::size_t size, Chosen chosen, Visit visit) {
  const std::size_t chunk = axis.block() * ((kChunk + axis.block() - 1) / axis.block());
  std::vector<Number> mask(chunk);
  Number* next = mask.data();
  while (next < mask.data() + chunk) {
    for (std::size_t level = 0; level < axis.length; ++level) {
      const Number value = chosen(level) ? std::numeric_limits<Number>::max() : Number{0};
      for (std::size_t i = 0; i < axis.stride; ++i) *next++ = value;
    }
  }
  for (std::size_t begin = 0; begin < size; begin += chunk) visit(begin, std::min(chunk, size - begin), mask.data());
}

// Marks the open nodes that have no open neighbour above (below, when `upward`).
inline std::vector<std::uint8_t> extremes(std::span<const Axis> all, Flags open, bool upward) {
  using Byte = std::uint8_t;
  std::vector<Byte> marks(open.begin(), open.end());
  const std::size_t size = open.size();
  const auto clear = [](Byte* __restrict mark, const Byte* __restrict neighbour, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i) mark[i] &= static_cast<Byte>(neighbour[i] ^ 1U);
  };
  for (const Axis& axis : all) {
    const std::size_t last = axis.length - 1;
    if (last == 0) continue;
    if (axis.stride >= kShortStride) {
      for (std::size_t level = 0; level < last; ++level) {
        at_level(axis, level, size, [&](std::size_t low, std::size_t length) {
          const std::size_t high = low + axis.stride;
          clear(marks.data() + (upward ? high : low), open.data() + (upward ? low : high), length);
        });
      }
      continue;
    }
    masked<Byte>(axis, size, [&](std::size_t level) { return level < last; },
                 [&](std::size_t low, std::size_t length, const Byte* __restrict mask) {
      Byte* __restrict mark = marks.data() + low + (upward ? axis.stride : 0);
      const Byte* __restrict neighbour = open.data() + low + (upward ? 0 : axis.stride);
      const std::size_t pairs = length - axis.stride;  // a local, since a byte may alias anything
      for (std::size_t i = 0; i < pairs; ++i) mark[i] &= static_cast<Byte>(~(neighbour[i] & mask[i]));
    });
  }
  return marks;
}

// Counts for every node the marks at or below it (above it, when `upward`).
template <typename Number>
std::vector<Number> counts(std::span<const Axis> all, Flags marks, bool upward) {
  std::vector<Number> counted(marks.begin(), marks.end());
  std::vector<Number> before;
  const std::size_t size = marks.size();
  for (const Axis& axis : all) {
    for (std::size_t step = 1; step < axis.length; ++step) {
      const std::size_t low = upward ? axis.length - 1 - step : step - 1;  // of the two levels that meet
      if (axis.stride >= kShortStride) {
        at_level(axis, low, size, [&](std::size_t begin, std::size_t length) {
          const Number* __restrict from = counted.data() + begin + (upward ? axis.stride : 0);
          Number* __restrict to = counted.data() + begin + (upward ? 0 : axis.stride);
          for (std::size_t i = 0; i < length; ++i) to[i] = static_cast<Number>(to[i] + from[i]);
        });
        continue;
      }
      masked<Number>(axis, size, [&](std::size_t level) { return level == low; },
                     [&](std::size_t begin, std::size_t length, const Number* __restrict mask) {
        before.assign(counted.begin() + static_cast<std::ptrdiff_t>(begin),
                      counted.begin() + static_cast<std::ptrdiff_t>(begin + length));
        const Number* __restrict from = before.data() + (upward ? axis.stride : 0);
        Number* __restrict to = counted.data() + begin + (upward ? 0 : axis.stride);
        const std::size_t pairs = length - axis.stride;
        for (std::size_t i = 0; i < pairs; ++i) to[i] = static_cast<Number>(to[i] + (from[i] & mask[i]));
      });
    }
  }
  return counted;
}

// The probability that a node can be excluded, which rises with its score.
inline double chance(double score) { return 0.5 * (1.0 + score / std::sqrt(1.0 + score * score)); }

// The node of the largest gain: its count times its probability. A row is skipped if none of its counts could reach
// the best gain at the highest score of the row.
template <typename Number>
Cover best_gain(const std::vector<Number>& counted, Flags barred, Numbers left, Numbers right) {
  constexpr double kRounding = 1.0 - 1e-12;
  const double highest = *std::max_element(right.begin(), right.end());
  Cover best;
  for (std::size_t i = left.size(); i-- > 0;) {
    const Number* row = counted.data() + i * right.size();
    Number most = 0;  // a loop that the compiler can vectorize, unlike max_element
    for (std::size_t j = 0; j < right.size(); ++j) most = std::max(most, row[j]);
    if (most == 0 || most * chance(left[i] + highest) < best.gain * kRounding) continue;
    const std::uint8_t* out = barred.data() + i * right.size();
    for (std::size_t j = right.size(); j-- > 0;) {
      const double count = row[j];
      const double score = left[i] + right[j];
      if (count < best.gain || (score < 0.0 && 0.5 * count < best.gain * (1.0 + 2.0 * score * score))) continue;
      if (row[j] == 0 || out[j] != 0) continue;
      const double gain = count * chance(score);
      if (gain > 0.0 && gain >= best.gain) best = {static_cast<std::int64_t>(i * right.size() + j), gain};
    }
  }
  return best;
}

inline Cover best_of(std::span<const Axis> axes, Flags marks, Flags barred, Numbers left, Numbers right, bool upward) {
  const auto extreme = static_cast<std::size_t>(std::count(marks.begin(), marks.end(), std::uint8_t{1}));
  if (extreme <= std::numeric_limits<std::uint8_t>::max()) {
    return best_gain(counts<std::uint8_t>(axes, marks, upward), barred, left, right);
  }
  if (extreme <= std::numeric_limits<std::uint16_t>::max()) {
    return best_gain(counts<std::uint16_t>(axes, marks, upward), barred, left, right);
  }
  return best_gain(counts<std::uint32_t>(axes, marks, upward), barred, left, right);
}

// Which combinations of levels on some axes a node covers.
inline std::vector<std::uint8_t> covered_levels(std::span<const Axis> axes, std::size_t node, bool upward) {
  std::vector<std::uint8_t> covered{1};
  std::vector<std::uint8_t> wider;
  for (const Axis& axis : axes) {
    const std::size_t own = node / axis.stride % axis.length;
    wider.clear();
    for (std::uint8_t so_far : covered) {
      for (std::size_t level = 0; level < axis.length; ++level) {
        wider.push_back(so_far & static_cast<std::uint8_t>(upward ? level >= own : level <= own));
      }
    }
    covered.swap(wider);
  }
  return covered;
}

// Clears the marks that a node covers; the first half of the axes has `rows` combinations of levels.
inline void clear_covered(std::span<const Axis> axes, std::span<std::uint8_t> marks, std::size_t node, bool upward,
                          std::size_t rows) {
  std::size_t half = 0;
  for (std::size_t size = 1; size < rows; ++half) size *= axes[half].length;
  const std::vector<std::uint8_t> left = covered_levels(axes.first(half), node, upward);
  const std::vector<std::uint8_t> right = covered_levels(axes.subspan(half), node, upward);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] == 0) continue;
    std::uint8_t* row = marks.data() + i * right.size();
    for (std::size_t j = 0; j < right.size(); ++j) row[j] &= static_cast<std::uint8_t>(right[j] ^ 1U);
  }
}

inline void check(std::size_t size, Numbers left, Numbers right) {
  if (left.size() * right.size() != size) throw std::invalid_argument("arrays do not fit the shape");
}

}  // namespace detail

// The extreme open nodes (maximal ones, or minimal ones when `upward`) must each be covered by a node above
// (below) them. A node's gain is the number of extreme nodes that it covers times the probability that it can be
// excluded, which rises with its score as (1 + s / sqrt(1 + s^2)) / 2. Barred nodes are no candidates. Returns the node of
// the largest gain, then the best node for the remaining extreme nodes, and so on, up to `most` nodes.
inline std::vector<Cover> best_covers(std::span<const std::size_t> shape, Flags open, Flags barred, Numbers left,
                                      Numbers right, bool upward, std::size_t most) {
  std::size_t size = 1;
  for (std::size_t length : shape) size *= length;
  detail::check(size, left, right);
  if (open.size() != size || barred.size() != size) throw std::invalid_argument("arrays do not fit the shape");
  std::vector<Cover> found;
  if (size == 0) return found;
  const std::vector<detail::Axis> axes = detail::axes(shape);
  std::vector<std::uint8_t> marks = detail::extremes(axes, open, upward);
  while (found.size() < most) {
    const Cover best = detail::best_of(axes, marks, barred, left, right, upward);
    if (best.index < 0) break;
    found.push_back(best);
    if (found.size() < most) detail::clear_covered(axes, marks, static_cast<std::size_t>(best.index), upward, left.size());
  }
  return found;
}

// The open node with the lowest value among those that are sure or have a score below 0; -1 if there is none.
inline std::int64_t least_likely(Numbers values, Flags open, Flags sure, Numbers left, Numbers right) {
  detail::check(values.size(), left, right);
  if (open.size() != values.size() || sure.size() != values.size()) throw std::invalid_argument("arrays do not fit");
  std::int64_t best = -1;
  double least = std::numeric_limits<double>::infinity();
  constexpr std::size_t kStep = 8;  // eight nodes are skipped at a time, since few are open during most of a search
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::size_t row = i * right.size();
    for (std::size_t j = 0; j < right.size();) {
      std::uint64_t flags = 1;
      if (j + kStep <= right.size()) std::memcpy(&flags, open.data() + row + j, kStep);
      const std::size_t stop = std::min(right.size(), j + kStep);
      if (flags == 0) j = stop;
      for (; j < stop; ++j) {
        const std::size_t index = row + j;
        const bool likely = (open[index] != 0) & ((left[i] + right[j] < 0.0) | (sure[index] != 0));
        const double value = likely ? values[index] : std::numeric_limits<double>::infinity();
        if (value < least) {  // the only branch, and rarely taken
          least = value;
          best = static_cast<std::int64_t>(index);
        }
      }
    }
  }
  return best;
}

// A Bayesian linear model of a result of counting a node: one normally distributed coefficient per attribute and
// level, and an intercept. The guess for a node is the sum of its coefficients.
class Guess {
 public:
  using Node = std::span<const std::size_t>;

  // `mean` and `deviation` contain the coefficients of all attributes one after the other, then the intercept.
  Guess(std::vector<std::size_t> shape, Numbers mean, Numbers deviation)
      : shape_(std::move(shape)), mean_(mean.begin(), mean.end()), covariance_(mean.size() * mean.size(), 0.0) {
    std::size_t size = 1;
    for (std::size_t length : shape_) size += length;
    if (mean.size() != size || deviation.size() != size) throw std::invalid_argument("numbers do not fit the shape");
    for (std::size_t i = 0; i < size; ++i) covariance_[i * size + i] = deviation[i] * deviation[i];
    active_.resize(shape_.size() + 1);
    spread_.resize(size);
  }

  double at(Node node) {
    activate(node);
    return total(mean_);
  }

  // A rank-one Kalman update with the result of counting a node.
  void learn(Node node, double seen, double variance) {
    activate(node);
    const std::size_t size = mean_.size();
    std::fill(spread_.begin(), spread_.end(), 0.0);
    for (std::size_t number : active_) {
      for (std::size_t j = 0; j < size; ++j) spread_[j] += covariance_[number * size + j];
    }
    const double scale = total(spread_) + variance;
    const double surprise = seen - total(mean_);
    for (std::size_t i = 0; i < size; ++i) {
      const double gain = spread_[i] / scale;
      mean_[i] += gain * surprise;
      for (std::size_t j = 0; j < size; ++j) covariance_[i * size + j] -= gain * spread_[j];
    }
  }

  // (guess - threshold) / spread for all nodes, as sums over the first and over the second half of the attributes.
  std::pair<std::vector<double>, std::vector<double>> scores(double threshold, double spread) const {
    const std::size_t middle = shape_.size() / 2;
    return {sums(0, middle, mean_.back() - threshold, spread), sums(middle, shape_.size(), 0.0, spread)};
  }

 private:
  void activate(Node node) {
    if (node.size() != shape_.size()) throw std::invalid_argument("one level per attribute, please");
    std::size_t first = 0;
    for (std::size_t a = 0; a < shape_.size(); first += shape_[a++]) {
      if (node[a] >= shape_[a]) throw std::invalid_argument("no such level");
      active_[a] = first + node[a];
    }
    active_.back() = first;
  }

  double total(const std::vector<double>& numbers) const {
    double sum = 0.0;
    for (std::size_t number : active_) sum += numbers[number];
    return sum;
  }

  std::vector<double> sums(std::size_t begin, std::size_t end, double start, double spread) const {
    std::vector<double> totals{start / spread};
    std::vector<double> wider;
    std::size_t first = 0;
    for (std::size_t a = 0; a < end; first += shape_[a++]) {
      if (a < begin) continue;
      wider.clear();
      for (double total : totals) {
        for (std::size_t level = 0; level < shape_[a]; ++level) wider.push_back(total + mean_[first + level] / spread);
      }
      totals.swap(wider);
    }
    return totals;
  }

  std::vector<std::size_t> shape_;
  std::vector<double> mean_;
  std::vector<double> covariance_;
  std::vector<std::size_t> active_;
  std::vector<double> spread_;
};

}  // namespace kohorte
