// Where in a lattice to look next, by a guess that is a sum over the attributes.
//
// A lattice of the given shape is stored as a flat array, last axis fastest. A guess for node i * right.size() + j is
// left[i] + right[j]: the sums over the first and the second half of the attributes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

namespace kohorte {

using Flags = std::span<const std::uint8_t>;
using Numbers = std::span<const double>;

struct Cover {
  std::int64_t index = -1;  // -1: no node covers anything
  double gain = 0.0;
};

namespace detail {

// Calls `visit(low, high, length, step)` for all neighbouring pairs along one axis, in rising order: `length` pairs
// at a time, `step` apart. Whichever of the two inner loops is longer comes last.
template <typename Visit>
void along(std::span<const std::size_t> shape, std::size_t axis, std::size_t size, bool reversed, Visit visit) {
  std::size_t stride = 1;
  for (std::size_t a = axis + 1; a < shape.size(); ++a) stride *= shape[a];
  const std::size_t block = stride * shape[axis];
  const std::size_t blocks = size / block;
  for (std::size_t count = 1; count < shape[axis]; ++count) {
    const std::size_t level = reversed ? shape[axis] - count : count;
    const std::size_t low = (level - 1) * stride;
    const std::size_t high = level * stride;
    if (stride >= 16 || stride >= blocks) {
      for (std::size_t b = 0; b < blocks; ++b) visit(low + b * block, high + b * block, stride, std::size_t{1});
    } else {
      for (std::size_t i = 0; i < stride; ++i) visit(low + i, high + i, blocks, block);
    }
  }
}

// Marks the open nodes that have no open neighbour above (below, when `upward`).
inline std::vector<std::uint8_t> extremes(std::span<const std::size_t> shape, Flags open, bool upward) {
  std::vector<std::uint8_t> marks(open.begin(), open.end());
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    along(shape, axis, open.size(), false, [&](std::size_t low, std::size_t high, std::size_t length, std::size_t step) {
      std::uint8_t* loser = marks.data() + (upward ? high : low);
      const std::uint8_t* winner = open.data() + (upward ? low : high);
      if (step == 1) {
        for (std::size_t i = 0; i < length; ++i) loser[i] &= static_cast<std::uint8_t>(winner[i] ^ 1U);
      } else {
        for (std::size_t i = 0; i < length * step; i += step) loser[i] &= static_cast<std::uint8_t>(winner[i] ^ 1U);
      }
    });
  }
  return marks;
}

// Counts for every node the marks at or below it (above it, when `upward`).
template <typename Number>
std::vector<Number> counts(std::span<const std::size_t> shape, Flags marks, bool upward) {
  std::vector<Number> counted(marks.begin(), marks.end());
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    along(shape, axis, marks.size(), upward, [&](std::size_t low, std::size_t high, std::size_t length, std::size_t step) {
      const Number* from = counted.data() + (upward ? high : low);
      Number* to = counted.data() + (upward ? low : high);
      if (step == 1) {
        for (std::size_t i = 0; i < length; ++i) to[i] = static_cast<Number>(to[i] + from[i]);
      } else {
        for (std::size_t i = 0; i < length * step; i += step) to[i] = static_cast<Number>(to[i] + from[i]);
      }
    });
  }
  return counted;
}

// A node's gain is at most its count, so that most nodes need no look at their guess.
template <typename Number>
Cover best_gain(const std::vector<Number>& counted, Flags barred, Numbers left, Numbers right) {
  Cover best;
  std::size_t index = counted.size();
  for (std::size_t i = left.size(); i-- > 0;) {
    for (std::size_t j = right.size(); j-- > 0;) {
      --index;
      if (counted[index] == 0 || static_cast<double>(counted[index]) < best.gain || barred[index] != 0) continue;
      const double score = left[i] + right[j];
      const double gain = counted[index] * (0.5 * (1.0 + score / std::sqrt(1.0 + score * score)));
      if (gain > 0.0 && gain >= best.gain) best = {static_cast<std::int64_t>(index), gain};
    }
  }
  return best;
}

inline void check(std::size_t size, Numbers left, Numbers right) {
  if (left.size() * right.size() != size) throw std::invalid_argument("arrays do not fit the shape");
}

}  // namespace detail

// The extreme open nodes (maximal ones, or minimal ones when `upward`) must each be covered by a node above
// (below) them. A node's gain is the number of extreme nodes that it covers times the probability that it can be
// excluded, which rises with its score as (1 + s / sqrt(1 + s^2)) / 2. Barred nodes are no candidates.
inline Cover best_cover(std::span<const std::size_t> shape, Flags open, Flags barred, Numbers left, Numbers right,
                        bool upward) {
  std::size_t size = 1;
  for (std::size_t length : shape) size *= length;
  detail::check(size, left, right);
  if (open.size() != size || barred.size() != size) throw std::invalid_argument("arrays do not fit the shape");
  const std::vector<std::uint8_t> marks = detail::extremes(shape, open, upward);
  if (size <= std::numeric_limits<std::uint16_t>::max()) {
    return detail::best_gain(detail::counts<std::uint16_t>(shape, marks, upward), barred, left, right);
  }
  return detail::best_gain(detail::counts<std::uint32_t>(shape, marks, upward), barred, left, right);
}

// The open node of the least value among those that are sure or have a score below 0; -1 where there is none.
inline std::int64_t least_likely(Numbers values, Flags open, Flags sure, Numbers left, Numbers right) {
  detail::check(values.size(), left, right);
  if (open.size() != values.size() || sure.size() != values.size()) throw std::invalid_argument("arrays do not fit");
  std::int64_t best = -1;
  double least = std::numeric_limits<double>::infinity();
  std::size_t index = 0;
  for (double begun : left) {
    for (double rest : right) {
      if (open[index] != 0 && values[index] < least && (begun + rest < 0.0 || sure[index] != 0)) {
        least = values[index];
        best = static_cast<std::int64_t>(index);
      }
      ++index;
    }
  }
  return best;
}

}  // namespace kohorte
