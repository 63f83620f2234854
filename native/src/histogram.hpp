// Histograms of sensitive values, one per class, and how far each is from the histogram of the whole table.
//
// Cells starts[i] to starts[i + 1] are those of class i: a value and how often the class has it. With n rows in a class
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
#include <unordered_map>
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

// With fewer rows than this, and 32 bits for a code, nothing that is computed here leaves 127 bits.
inline constexpr int kRowBits = 47;
inline constexpr Count kMostRows = (Count{1} << kRowBits) - 1;
inline constexpr double kRounding = 1e-9;  // how far a share may be off: a bound must not rest on less
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
  bits |= part != 0 ? 1U : 0U;  // what is left over decides where the bits lie halfway between two doubles
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

// The largest counts in descending order: a count takes the first place whose count is smaller, and the smallest drops
// out at the end. Members, not an array, so that they stay in registers; and no branch depends on the counts.
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

// Logarithms of small numbers. Made by the first call; C++ lets other threads wait for it.
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

  // From one value of a class to the next the class adds nothing, and the table only grows, so that the difference of
  // both changes its sign once: a stretch costs one search, not its length. Before the first value the class has
  // nothing, after the last it has all, and the sign is known.
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

// The earth mover's distance of values in a hierarchy: moving within a group of level h costs h / H.
//
// With extra(node) = p(node) - q(node), the nodes of level h move sum of min(pos, neg) = S(h - 1) - S(h), where S(h) is
// the sum of the positive extras of level h: pos are the positive extras of the children, and neg = pos - extra(node).
// The sum of h / H * (S(h - 1) - S(h)) telescopes to (S(0) + ... + S(H - 1)) / H, also where several groups at the top
// remain to be joined at cost 1. So the distance is the mean of the equal distances of all levels below the top, and
// only groups that a class touches can have a positive extra.
class Tree {
 public:
  Tree(std::span<const Codes> maps, Counts overall) : overall_(overall.begin(), overall.end()) {
    table_ = histogram::check_overall(overall);
    values_ = overall.size();
    if (maps.empty()) throw std::invalid_argument("no levels");
    for (const Codes& map : maps) {
      if (map.size() != values_) throw std::invalid_argument("maps of unequal length");
    }
    if (values_ >= histogram::kNone / maps.size()) throw std::invalid_argument("too many values");
    height_ = maps.size() - 1;
    std::vector<Code> nodes = leaves(maps.front());
    for (std::size_t level = 1; level <= height_; ++level) climb(maps[level], nodes);
  }

  std::vector<double> distances(Starts starts, Codes values, Counts counts) const {
    const histogram::ClassRows rows = histogram::check(starts, values, counts, values_, table_);
    if (height_ == 0) return std::vector<double>(rows.of.size());
    const histogram::Wide scale = histogram::Wide{table_} * static_cast<Count>(height_);
    Scratch scratch{std::vector<Count>(overall_.size()), std::vector<Code>(std::min(values_, values.size()))};
    return histogram::with_room(scale * rows.most, [&]<typename Int>(Int) {
      return histogram::ratios(starts, values, counts, rows, scale, [&](Codes own, Counts own_counts, Count own_rows) {
        return part<Int>(own, own_counts, own_rows, scratch);
      });
    });
  }

  // A lower bound for the rows that have to leave each class before the others are within `most` of the whole table.
  //
  // n * distance is convex in the counts of a class. Its slope for a row of value v is f(v) minus the mean of f over the
  // table, f(v) being the share of levels at which the group of v has a positive extra. So taking rows out lowers
  // n * (distance - most) by at most their slopes less `most`; those with the steepest slope count first.
  // `distances` are those of the classes: one that is within `most` needs no second look.
  std::vector<double> removals(Starts starts, Codes values, Counts counts, std::span<const double> distances,
                               double most) const {
    const histogram::ClassRows rows = histogram::check(starts, values, counts, values_, table_);
    if (distances.size() != rows.of.size()) throw std::invalid_argument("classes and distances differ in number");
    std::vector<double> found(rows.of.size());
    std::vector<Count> amounts(overall_.size());
    std::vector<Count> by_levels(height_ + 1);  // the rows whose groups have a positive extra at so many levels
    std::vector<Share> shares;
    for (std::size_t i = 0; height_ > 0 && i < found.size(); ++i) {
      if (distances[i] <= most) continue;
      const Codes own = histogram::cells_of(starts, i, values);
      const Counts own_counts = histogram::cells_of(starts, i, counts);
      const auto own_rows = static_cast<double>(rows.of[i]);
      for (std::size_t k = 0; k < own.size(); ++k) {
        climb(own[k], [&](Code node) { amounts[node] += own_counts[k]; });
      }
      shares.clear();
      for (Code value : own) climb(value, [&](Code node) { add_share(node, amounts, shares); });
      const double kept = most_kept(shares, own_rows, most);
      for (const Share& share : shares) amounts[share.node] = -amounts[share.node];  // as they were
      found[i] = std::max(fewest_removed(own, own_counts, own_rows, most, amounts, by_levels), own_rows - kept);
      for (Code value : own) climb(value, [&](Code node) { amounts[node] = 0; });
    }
    return found;
  }

 private:
  struct Scratch {
    std::vector<Count> counts;  // per node; 0 between two classes
    std::vector<Code> touched;  // the nodes of one level that a class has
  };

  static std::vector<Code> leaves(Codes map) {
    std::vector<Code> sorted(map.begin(), map.end());
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      throw std::invalid_argument("level 0 does not tell all values apart");
    }
    std::vector<Code> nodes(map.size());
    for (std::size_t value = 0; value < nodes.size(); ++value) nodes[value] = static_cast<Code>(value);
    return nodes;
  }

  // Adds a level above the nodes that the values have at the level below.
  void climb(Codes map, std::vector<Code>& nodes) {
    std::unordered_map<Code, Code> numbers;
    parents_.resize(overall_.size(), histogram::kNone);
    for (std::size_t value = 0; value < values_; ++value) {
      const auto [found, is_new] = numbers.emplace(map[value], static_cast<Code>(overall_.size()));
      if (is_new) overall_.push_back(0);
      overall_[found->second] += overall_[value];
      Code& parent = parents_[nodes[value]];
      if (parent == histogram::kNone) parent = found->second;
      if (parent != found->second) throw std::invalid_argument("a level that splits a group of the level below");
      nodes[value] = parent;
    }
  }

  // Calls `visit` for the nodes of a value below the top.
  template <typename Visit>
  void climb(Code node, Visit visit) const {
    for (std::size_t level = 0; level < height_; ++level) {
      visit(node);
      if (level + 1 < height_) node = parents_[node];
    }
  }

  // How many rows of a class a group has, and its share of the table.
  struct Share {
    double own;
    double overall;
    Code node;
  };

  // Adds a group once; its amount is negated to remember that.
  void add_share(Code node, std::vector<Count>& amounts, std::vector<Share>& shares) const {
    if (amounts[node] < 0) return;
    const double overall = static_cast<double>(overall_[node]) / static_cast<double>(table_);
    shares.push_back({static_cast<double>(amounts[node]), overall, node});
    amounts[node] = -amounts[node];
  }

  // An upper bound for the rows that can stay. Where m rows stay, a group of share q adds at least m - min(own, q * m) to
  // its level's part of the distance, whichever stay. So the sum of min(own, q * m) over all groups and levels is at
  // least height * (1 - most) * m. That is concave in m, and Newton's method comes from above.
  double most_kept(const std::vector<Share>& shares, double rows, double most) const {
    constexpr int kSteps = 4;
    const double wanted = static_cast<double>(height_) * (1.0 - most - histogram::kRounding);
    double kept = rows;
    for (int step = 0; step < kSteps; ++step) {
      double surplus = -wanted * kept;
      double slope = -wanted;
      for (const Share& share : shares) {
        const double room = share.overall * kept;
        surplus += std::min(share.own, room);
        slope += room < share.own ? share.overall : 0.0;
      }
      if (surplus >= 0.0) break;
      if (slope >= 0.0) return rows;  // no root to the left: rounding, so nothing is said
      kept -= surplus / slope;
    }
    return std::max(kept, 0.0);
  }

  double fewest_removed(Codes values, Counts counts, double rows, double most, std::vector<Count>& amounts,
                        std::vector<Count>& by_levels) const {
    const auto table = static_cast<double>(table_);
    const auto height = static_cast<double>(height_);
    double extra = 0.0;  // n * distance * height
    double mean = 0.0;   // of f over the table
    std::fill(by_levels.begin(), by_levels.end(), 0);
    for (std::size_t k = 0; k < values.size(); ++k) {
      std::size_t levels = 0;
      climb(values[k], [&](Code node) {
        const bool seen = amounts[node] < 0;  // and found to be positive
        const auto own = static_cast<double>(seen ? -amounts[node] : amounts[node]);
        const double more = own - static_cast<double>(overall_[node]) / table * rows;
        if (more <= 0) return;
        ++levels;
        if (seen) return;
        extra += more;
        mean += static_cast<double>(overall_[node]) / table / height;
        amounts[node] = -amounts[node];
      });
      by_levels[levels] += counts[k];
    }
    double needed = extra / height - (most + histogram::kRounding) * rows;
    double removed = 0.0;
    for (std::size_t levels = height_ + 1; needed > 0 && levels-- > 0;) {
      const double gain = static_cast<double>(levels) / height - mean - most;
      if (gain <= 0) return rows;  // no rows are left that would help
      const auto there = static_cast<double>(by_levels[levels]);
      if (needed <= there * gain) return std::min(removed + needed / gain, rows);
      removed += there;
      needed -= there * gain;
    }
    return std::min(removed, rows);
  }

  // The sum of all positive extras below the top, as whole numbers: p * n * N - q * n * N.
  template <typename Int>
  Int part(Codes values, Counts counts, Count rows, Scratch& scratch) const {
    Count* amounts = scratch.counts.data();
    Code* touched = scratch.touched.data();
    const Count* overall = overall_.data();
    const Code* parents = parents_.data();
    const Int table = table_;
    const std::size_t height = height_;
    std::size_t length = 0;
    Int total = 0;
    const auto visit = [&](Code node, Count count, bool last) {
      total += histogram::positive(table * count - Int{overall[node]} * rows);
      if (last) return;
      const Code parent = parents[node];
      touched[length] = parent;  // written in any case, kept if new
      length += amounts[parent] == 0 ? 1 : 0;
      amounts[parent] += count;
    };
    for (std::size_t k = 0; k < values.size(); ++k) visit(values[k], counts[k], height == 1);
    for (std::size_t level = 1; level < height; ++level) {
      const std::size_t nodes = std::exchange(length, 0);
      for (std::size_t k = 0; k < nodes; ++k) {  // parents take the places of nodes already read
        const Code node = touched[k];
        visit(node, std::exchange(amounts[node], 0), level + 1 == height);
      }
    }
    return total;
  }

  Count table_ = 0;
  std::size_t values_ = 0;
  std::size_t height_ = 0;
  std::vector<Count> overall_;  // per node, the values first, then level by level
  std::vector<Code> parents_;   // of all nodes below the top
};

}  // namespace kohorte
