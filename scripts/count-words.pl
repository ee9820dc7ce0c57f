#!/usr/bin/env perl
# Counts words that hide a noun ("what", "one", "it") in comments and docs, and fails when 1,000 words hold too many.
#   scripts/count-words.pl                        the table, for each top-level folder
#   scripts/count-words.pl -packages core ports   a line for each package
#   scripts/count-words.pl -random 10 core/money  ten comments, to be read without their code
# "its" and "it's" are other words; a hyphen parts words. Generated files, directives to tools, the expected output of
# examples, and code in Markdown do not count.
use v5.26;
use warnings;
use utf8;
use Getopt::Long;
use List::Util 'shuffle';
binmode STDOUT, ':utf8';

my @bounds = (['what', 3], ['one', 4], ['it', 10]);
GetOptions('packages' => \my $packages, 'random=i' => \my $random) or exit 2;

my $literal = qr/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`[^`]*`/;
my $comment = qr{(?<!\S)(?://|--).*(?:\n\h*(?://|--).*)*|/\*(?s:.*?)\*/}; # adjacent lines are a single comment
my $directive = qr{^\h*(?://nolint\S*|//[a-z0-9]+:\S.*|--\h*(?:name:|\+goose).*)}m; # a reason after //nolint counts
my $output = qr{^//\h*(?:unordered )?output:(?s:.*)}mi;

# comments gives [file, line, text] of each comment of a file, or of each paragraph of a Markdown page.
sub comments {
	my ($file) = @_;
	open my $in, '<:utf8', $file or die "$file: $!\n";
	my ($text, $pattern) = (do { local $/; <$in> // '' }, qr/$literal|($comment)/);
	return if $text =~ m{^// Code generated .* DO NOT EDIT\.$}m;
	if ($file =~ /\.md$/) {
		$text =~ s/^\h*```.*?^\h*```/"\n" x ($& =~ tr,\n,,)/gmse;
		$text =~ s/`[^`\n]*`//g;
		$pattern = qr/((?:.*\S.*\n?)+)/;
	}
	my ($line, $read, @found) = (1, 0);
	while ($text =~ /$pattern/g) {
		$line += substr($text, $read, $-[0] - $read) =~ tr/\n// if $random;
		$read = $-[0];
		next unless defined $1;
		my $words = $1 =~ s/$output//r =~ s/$directive//gr =~ s{^\h*(?://|--)|/\*|\*/}{}gmr;
		push @found, [$file, $line, join ' ', split ' ', $words] if $words =~ /\S/;
	}
	return @found;
}

sub files {
	open my $find, '-|', 'find', @_, '-type', 'f' or die "find: $!\n";
	chomp(my @files = sort <$find>);
	close $find or exit 2;
	return grep { /\.(?:go|templ|sql|lua|md)$/ && !m{_templ\.go$|\.gen\.go$|internal/sqlc/} } @files;
}

# report prints the figures of a text, and returns whether a bound is broken.
sub report {
	my ($name, @files) = @_;
	my ($all, $broken, %hits) = (0, 0);
	for my $text (map { $_->[2] } map { comments($_) } @files) {
		$all++, $hits{lc $_}++ for $text =~ /[\pL\pN_]*\pL[\pL\pN_]*(?:['’]\pL+)*/g;
	}
	printf '%-44s %8d', $name, $all;
	for (@bounds) {
		my ($word, $most) = @$_;
		my $rate = $all && 1000 * ($hits{$word} // 0) / $all;
		$broken ||= $rate > $most;
		printf '  %11.1f%s', $rate, $rate > $most ? '!' : ' ';
	}
	say '';
	return $broken;
}

my @paths = @ARGV ? @ARGV : qw(app core ports adapters process cmd lab);
if ($random) {
	my @all = shuffle map { comments($_) } files(@paths);
	printf "%s:%d: %s\n", @$_ for splice @all, 0, $random;
	exit;
}
printf '%-44s %8s' . '  %12s' x @bounds . "\n", 'per 1,000 words', 'words', map { "$_->[0] ≤ $_->[1]" } @bounds;
my $broken = 0;
for my $path (@paths) {
	my %of;
	push @{$of{$packages ? s{/[^/]*$}{}r : $path}}, $_ for files($path);
	$broken += report($_, @{$of{$_}}) for sort keys %of;
}
$broken += report('docs (prose)', files(qw(README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md docs))) unless @ARGV;
say '!  more than the bound: name the thing (docs/glossary.md)' if $broken;
exit($broken > 0);
