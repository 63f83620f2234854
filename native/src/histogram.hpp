// Histograms of sensitive values, one per class, and how far each is from the histogram of the whole table.
//
// Cells starts[i] to starts[i + 1] belong to class i: a value and its frequency in the class. With n rows in a class
// and N in the table, every distance is a fraction of whole numbers below a multiple of n * N. Both are computed
// exactly and divided with one rounding, so that a distance of 1/5 equals the literal 0.2.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "key_table.hpp"

namespace kohorte {

using Starts = std::span<const std::int64_t>;
using Codes = std::span<const Code>;
using Counts = std::span<const Count>;

struct SortedCells {
  std::vector<std::int64_t> starts;
  std::vector<Code> order;
};

struct Tops {
  std::vector<Count> largest;
  std::vector<Count> sums;
};

namespace histogram {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 Magnitude;

// With fewer rows than this, and 32 bits for a code, all numbers computed here fit into 127 bits.
inline constexpr int kRowBits = 47;
inline constexpr Count kMostRows = (Count{1} << kRowBits) - 1;
inline constexpr double kRounding = 1e-9;  // a tolerance for rounding errors, so that bounds stay valid
inline constexpr Code kNone = std::numeric_limits<Code>::max();

inline std::size_t index(std::int64_t number) { return static_cast<std::size_t>(number); }

inline std::size_t classes(Starts starts) { return starts.size() - 1; }

template <typename T>
std::span<const T> cells_of(Starts starts, std::size_t i, std::span<const T> cells) {
  return cells.subspan(index(starts[i]), index(starts[i + 1] - starts[i]));
}

inline Count sum(Counts counts) {
  Count total = 0;
  for (Count count : counts) total += count;
  return total;
}

inline void check_starts(Starts starts, std::size_t cells) {
  if (cells >= kNone) throw std::invalid_argument("too many cells");
  if (starts.empty() || starts.front() != 0 || starts.back() != static_cast<std::int64_t>(cells)) {
    throw std::invalid_argument("starts do not fit the cells");
  }
  bool rising = true;
  for (std::size_t i = 0; i < classes(starts); ++i) rising &= starts[i] < starts[i + 1];
  if (!rising) throw std::invalid_argument("a class without cells");
}

// The rows of every class, known once its cells are checked.
struct ClassRows {
  std::vector<Count> of;
  Count most = 0;
};

// Calls `visit(class, cell)` for all cells on the way.
template <typename Visit>
ClassRows check_counts(Starts starts, Counts counts, Visit visit) {
  check_starts(starts, counts.size());
  ClassRows rows{std::vector<Count>(classes(starts))};
  std::uint64_t seen = 0;  // has a high bit where a count is not positive, or a sum too large, whatever comes later
  std::size_t cell = 0;
  for (std::size_t i = 0; i < rows.of.size(); ++i) {
    std::uint64_t own = 0;
    for (const std::size_t stop = index(starts[i + 1]); cell < stop; ++cell) {
      own += static_cast<std::uint64_t>(counts[cell]);
      seen |= (static_cast<std::uint64_t>(counts[cell]) - 1) | own;
      visit(i, cell);
    }
    rows.of[i] = static_cast<Count>(own);
    rows.most = std::max(rows.most, rows.of[i]);
  }
  if (seen >> kRowBits != 0) throw std::invalid_argument("a count that is not positive, or too many rows");
  return rows;
}

inline ClassRows check_counts(Starts starts, Counts counts) {
  return check_counts(starts, counts, [](std::size_t, std::size_t) {});
}

// Returns the rows of the table.
inline Count check_overall(Counts overall) {
  Count rows = 0;
  for (Count count : overall) {
    if (count < 0) throw std::invalid_argument("a negative count");
    if (count > kMostRows - rows) throw std::invalid_argument("too many rows");
    rows += count;
  }
  return rows;
}

inline ClassRows check(Starts starts, Codes values, Counts counts, std::size_t known, Count table) {
  if (values.size() != counts.size()) throw std::invalid_argument("values and counts differ in number");
  if (known > kNone) throw std::invalid_argument("too many values");
  std::vector<Code> last(known, kNone);  // the last class that has the value
  bool twice = false;
  ClassRows rows = check_counts(starts, counts, [&](std::size_t i, std::size_t cell) {
    if (values[cell] >= known) throw std::invalid_argument("a value that the table does not have");
    Code& owner = last[values[cell]];
    twice |= owner == i;
    owner = static_cast<Code>(i);
  });
  if (twice) throw std::invalid_argument("a class has a value twice");
  if (table == 0 && !counts.empty()) throw std::invalid_argument("a table without rows");
  return rows;
}

// Calls `run` with a number of the type in which all numbers up to `bound` can be added and subtracted.
template <typename Run>
auto with_room(Wide bound, Run run) {
  constexpr Wide kNarrow = std::numeric_limits<Count>::max() / 4;
  return bound <= kNarrow ? run(Count{}) : run(Wide{});
}

// The double nearest to part / whole, for 0 <= part <= whole < 2^127: a long division of as many bits at a time as fit.
inline double long_ratio(Magnitude part, Magnitude whole) {
  if (part == 0) return 0.0;
  const auto high = static_cast<std::uint64_t>(whole >> 64U);
  const int room = high == 0 ? 63 : std::countl_zero(high);
  std::uint64_t bits = 0;
  int exponent = 0;
  while (bits >> 54U == 0) {
    const int step = std::min(room, std::countl_zero(bits) - 1);
    part <<= step;
    bits = (bits << step) | static_cast<std::uint64_t>(part / whole);
    part %= whole;
    exponent -= step;
  }
  bits |= part != 0 ? 1U : 0U;  // the remainder decides if the bits are halfway between two doubles
  return std::ldexp(static_cast<double>(bits), exponent);
}

inline double ratio(Wide part, Wide whole) {
  constexpr Wide kExact = Wide{1} << 53U;
  if (whole > kExact) return long_ratio(static_cast<Magnitude>(part), static_cast<Magnitude>(whole));
  return static_cast<double>(static_cast<Count>(part)) / static_cast<double>(static_cast<Count>(whole));
}

// Calls `part(values, counts, rows)` for every class and divides what it returns by scale * rows.
template <typename Part>
std::vector<double> ratios(Starts starts, Codes values, Counts counts, const ClassRows& rows, Wide scale, Part part) {
  std::vector<double> found(classes(starts));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto own = part(cells_of(starts, i, values), cells_of(starts, i, counts), rows.of[i]);
    found[i] = ratio(own, scale * rows.of[i]);
  }
  return found;
}

template <typename Int>
Int positive(Int number) {
  return number > 0 ? number : 0;
}

// The largest counts in descending order: a count is inserted before the first smaller one, and the smallest is
// dropped. Members, not an array, so that they stay in registers; and no branch depends on the counts.
template <std::size_t Places>
struct Podium {
  void add(Count count) {
    const Count smaller = std::min(best, count);
    best = std::max(best, count);
    others.add(smaller);
  }
  Count sum() const { return best + others.sum(); }

  Count best = 0;
  Podium<Places - 1> others;
};

template <>
struct Podium<0> {
  void add(Count) {}
  Count sum() const { return 0; }
};

template <std::size_t Places>
Count sum_of_few(Counts counts) {
  Podium<Places> podium;
  for (Count count : counts) podium.add(count);
  return podium.sum();
}

inline Count sum_of_many(Counts counts, std::size_t places, std::vector<Count>& scratch) {
  scratch.assign(counts.begin(), counts.end());
  const auto last = scratch.begin() + static_cast<std::ptrdiff_t>(places);
  std::nth_element(scratch.begin(), last, scratch.end(), std::greater<>());
  return sum({scratch.begin(), last});
}

// The sum of the largest counts; there are more counts than places.
inline Count sum_of_largest(Counts counts, std::size_t places, std::vector<Count>& scratch) {
  switch (places) {
    case 0: return 0;
    case 2: return sum_of_few<2>(counts);
    case 3: return sum_of_few<3>(counts);
    case 4: return sum_of_few<4>(counts);
    case 5: return sum_of_few<5>(counts);
    case 6: return sum_of_few<6>(counts);
    default: return sum_of_many(counts, places, scratch);
  }
}

inline constexpr std::size_t kLogs = 4096;

// Logarithms of small numbers. Computed by the first call, while other threads wait.
inline const std::array<double, kLogs>& small_logs() {
  static const std::array<double, kLogs> table = [] {
    std::array<double, kLogs> logs{};
    for (std::size_t i = 1; i < kLogs; ++i) logs[i] = std::log(static_cast<double>(i));
    return logs;
  }();
  return table;
}

inline double log_of(Count number, const double* small) {
  return index(number) < kLogs ? small[number] : std::log(static_cast<double>(number));
}

}  // namespace histogram

// Sorts cells by class (stable, by counting).
inline SortedCells sort_cells(Codes class_of, std::int64_t classes) {
  if (classes < 0 || classes > std::int64_t{histogram::kNone}) throw std::invalid_argument("no such number of classes");
  if (class_of.size() >= histogram::kNone) throw std::invalid_argument("too many cells");
  SortedCells sorted{std::vector<std::int64_t>(histogram::index(classes) + 1), std::vector<Code>(class_of.size())};
  for (Code number : class_of) {
    if (number >= classes) throw std::invalid_argument("no such class");
    ++sorted.starts[number + std::size_t{1}];
  }
  for (std::size_t i = 1; i < sorted.starts.size(); ++i) sorted.starts[i] += sorted.starts[i - 1];
  std::vector<std::int64_t> next = sorted.starts;
  for (std::size_t cell = 0; cell < class_of.size(); ++cell) {
    sorted.order[histogram::index(next[class_of[cell]]++)] = static_cast<Code>(cell);
  }
  return sorted;
}

// Per class the largest count, and the sum of as many of the largest counts as there are places.
inline Tops top_counts(Starts starts, Counts counts, std::int64_t places) {
  if (places < 0) throw std::invalid_argument("a negative number of places");
  const histogram::ClassRows rows = histogram::check_counts(starts, counts);
  const std::size_t wanted = histogram::index(places);
  Tops tops{std::vector<Count>(rows.of.size()), rows.of};
  std::vector<Count> scratch;
  for (std::size_t i = 0; i < rows.of.size(); ++i) {
    const Counts own = histogram::cells_of(starts, i, counts);
    tops.largest[i] = histogram::sum_of_few<1>(own);
    if (wanted == 1) tops.sums[i] = tops.largest[i];
    else if (own.size() > wanted) tops.sums[i] = histogram::sum_of_largest(own, wanted, scratch);
  }
  return tops;
}

// The entropy of each class in nats, ln n - (sum of c ln c) / n. The sum goes from left to right, as in the twin.
inline std::vector<double> entropies(Starts starts, Counts counts) {
  const histogram::ClassRows rows = histogram::check_counts(starts, counts);
  const double* small = histogram::small_logs().data();
  std::vector<double> found(histogram::classes(starts));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Counts own = histogram::cells_of(starts, i, counts);
    if (own.size() == 1) continue;  // exactly 0
    double terms = 0.0;
    for (Count count : own) terms += static_cast<double>(count) * histogram::log_of(count, small);
    found[i] = std::max(0.0, histogram::log_of(rows.of[i], small) - terms / static_cast<double>(rows.of[i]));
  }
  return found;
}

// Half the sum of |p - q| over all values, which is the sum of p - q where that is positive.
inline std::vector<double> equal_distance(Starts starts, Codes values, Counts counts, Counts overall) {
  const Count table = histogram::check_overall(overall);
  const histogram::ClassRows rows = histogram::check(starts, values, counts, overall.size(), table);
  return histogram::with_room(histogram::Wide{table} * rows.most, [&]<typename Int>(Int) {
    return histogram::ratios(starts, values, counts, rows, table, [&](Codes own, Counts own_counts, Count own_rows) {
      Int part = 0;
      for (std::size_t k = 0; k < own.size(); ++k) {
        part += histogram::positive(Int{own_counts[k]} * table - Int{overall[own[k]]} * own_rows);
      }
      return part;
    });
  });
}

namespace histogram {

// The table's rows up to each rank, and how far those of a class are from them.
template <typename Int>
class Ranks {
 public:
  explicit Ranks(Counts overall) : up_to_(overall.size()), sums_(overall.size() + 1), dense_(overall.size()) {
    Count rows = 0;
    for (std::size_t rank = 0; rank < overall.size(); ++rank) {
      up_to_[rank] = rows += overall[rank];
      sums_[rank + 1] = sums_[rank] + rows;
    }
  }

  // The sum of |(class's rows up to a rank) * N - (table's rows up to it) * n| over all ranks but the last.
  Int part(Codes values, Counts counts, Count rows) {
    if (up_to_.size() <= kRanksPerCell * values.size()) return dense(values, counts, rows);
    sorted_.resize(values.size());
    for (std::size_t k = 0; k < values.size(); ++k) sorted_[k] = {values[k], counts[k]};
    std::sort(sorted_.begin(), sorted_.end());
    return sparse(rows);
  }

 private:
  static constexpr std::size_t kRanksPerCell = 32;  // up to here a walk along all ranks is faster than sorting

  Int dense(Codes values, Counts counts, Count rows) {
    for (std::size_t k = 0; k < values.size(); ++k) dense_[values[k]] = counts[k];
    const Int table = up_to_.back();
    Int total = 0;
    Count own = 0;
    for (std::size_t rank = 0; rank + 1 < dense_.size(); ++rank) {
      own += dense_[rank];
      const Int difference = table * own - Int{up_to_[rank]} * rows;
      total += difference < 0 ? -difference : difference;
    }
    for (Code value : values) dense_[value] = 0;
    return total;
  }

  // Between two values of a class, the cumulative count of the class is constant and that of the table grows, so their
  // difference changes its sign at most once: one binary search per interval is enough. Before the first value the
  // class has no rows, after the last it has all rows, and the sign is known.
  Int sparse(Count rows) const {
    const Int table = up_to_.back();
    const std::size_t last = up_to_.size() - 1;
    std::size_t rank = sorted_.front().first;
    Int total = rows * sums_[rank];
    Count own = sorted_.front().second;
    for (std::size_t k = 1; k < sorted_.size(); ++k) {
      const std::size_t next = sorted_[k].first;
      total += stretch(rank, turning(rank, next, table * own, rows), next, table * own, rows);
      own += sorted_[k].second;
      rank = next;
    }
    return total + stretch(rank, last, last, table * own, rows);
  }

  Int stretch(std::size_t begin, std::size_t turn, std::size_t end, Int own, Count rows) const {
    const Int signs = static_cast<Int>(2 * turn) - static_cast<Int>(begin + end);
    return signs * own + rows * (sums_[begin] + sums_[end] - 2 * sums_[turn]);
  }

  // The first rank up to which the table has the larger share.
  std::size_t turning(std::size_t begin, std::size_t end, Int own, Count rows) const {
    for (std::size_t length = end - begin; length > 0;) {
      const std::size_t half = length / 2;
      begin += Int{up_to_[begin + half]} * rows <= own ? length - half : 0;
      length = half;
    }
    return begin;
  }

  std::vector<Count> up_to_;
  std::vector<Int> sums_;    // of `up_to_` before each rank
  std::vector<Count> dense_;  // the counts of one class; 0 between two classes
  std::vector<std::pair<Code, Count>> sorted_;
};

}  // namespace histogram

// The earth mover's distance of ranks: the mean of |P - Q| over all ranks but the last, P and Q being cumulative.
inline std::vector<double> ordered_distance(Starts starts, Codes values, Counts counts, Counts overall) {
  const Count table = histogram::check_overall(overall);
  const histogram::ClassRows rows = histogram::check(starts, values, counts, overall.size(), table);
  if (overall.size() <= 1) return std::vector<double>(rows.of.size());
  const histogram::Wide scale = histogram::Wide{table} * static_cast<Count>(overall.size() - 1);
  return histogram::with_room((scale + table) * rows.most, [&]<typename Int>(Int) {
    histogram::Ranks<Int> ranks(overall);
    return histogram::ratios(starts, values, counts, rows, scale, [&](Codes own, Counts own_counts, Count own_rows) {
      return ranks.part(own, own_counts, own_rows);
    });
  });
}

}  // namespace kohorte
