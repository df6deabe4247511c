/**
 * Rows of the recorded transactions, checked against the transactions themselves: each amount against the change of the
 * vault's balance (or of the curve's lamports) and the exchange's event, and against what the sources of the sets
 * expect of them. Transactions that are not listed have no rows.
 *
 * A signature, then its rows: index of the instruction, program, pool, who (payer = the fee payer), then mint, raw
 * amount and decimals of what the pool received and of what left it; or a mint with its authority.
 */
const TABLE = `
3DZuPoKRrxLrb1rqaccgdjuiWuxFFTARdfFocQ66WymR3Ss2vURTt7F4ZWwHpwTTrj9cbvV59xxwYRUngEiRAFNE
  8 raydium-amm-v4 DHAeayDZnb76kxF5T5fgh7n3txBuSPhwdHRQYQMYGywY payer in SOL 63629071 9 out 28ECNMKBj66GMBJxq1c3VyzJiKY5gDp2sEYc92Ybpump 5238716646 6
3p36wGRa191szhME5kRbg41cv9sXPPYvozkkKvPMErwoakXGZNDbjgCtV3e7uzU9dSDABtAgpm7heoepNhDmxJwN
  13 raydium-amm-v4 GjvW8JQSpKG5ogjyD3zozfaeJSShTajS5ZFrexT8L12k payer in SOL 1154100000 9 out DKu9kykSfbN5LBfFXtNNDPaX35o4Fv6vJ9FKk7pZpump 6373264828 6
2bhr1FWqeL28zH1BJR1h3PxkVorh5GD3koPUgzKMKFtxUKK5k3R3UraU8YRoB5yxKDi5AZafp3Xf74AXTf9LDqWc
  8 raydium-cpmm 8THC7UQN8zPXRL61o75fP4gcwRyB5W3o74yHyqarkqZ9 payer in 7atgF8KQo4wJrD5ATGX7t1V2zVvykPJbFfNeVf1icFv1 344448 2 out SOL 15742 9
  11 raydium-clmm HMqacQogqMpdux9DgbZQ75saxmSYGF4dMcpuLNYQdNU6 payer in SOL 15742 9 out ED5nyyWEzpPPiWimP8vYm7sD7TD3LAt3Q3gRTWHzPJBY 74619 6
31ycbQtF5EEiAzHR9bYn4FkCPQnYSi65ob3LGn6GUfgm1QnpqqNK3NK98MXC3MsxSGPuouhkX759wCgdmpXkbUjs
  8 meteora-dlmm 6GuU95VtWZGbrUyq11XKVBGEfBbR49Hhj37o3oXxjQRS payer in SOL 10000000000 9 out KMnDBXcPXoz6oMJW5XG4tXdwSWpmWEP2RQM1Uujpump 998528432013 6
3zSKxVAH9LwUj4zfUsbr9fTZWGDfeA9HPxJp6YEuBhyNJ4Q1tP4PijzWd5UjhGBSVxNC4xHgFSfYgTas1WkPGh3W
  5 raydium-amm-v4 5MAes42sE5Y3dkyGd3JSHsDidqhoLziDTnFzqCoe1uuq payer in HjhCs97TBaJBfaJf3ukzs8CEsGApYjgz88wrhdTPpump 58882325154 6 out SOL 1173873 9
2NPwsoX7NyfarDBhGDrewJKdNccVS1X9dX2uWCtTMRamXhzXk8PHnGL25yneF5rmR7LPSXH8gKciSgPAe9nP7VU4
  13 raydium-amm-v4 Ho28uui8GGY2ZUe5UpW6pj8ks4cXaKXauoYMUafS7Nby payer in SOL 400000000 9 out 3p7eCgdQx1RiJUfr4t7Z8w6DpVbP7CMa9Z6Ff69tpump 3861519639304 6
5aTjNTfgZ5D1pSyXz1ZhtwyEiVjkL7exNS6GCpBhT4MaNmELxBzwPzyrevi4DpFr7B6EbnfRZCxcFFrAshjwMTWE
  6 raydium-clmm 8G6Mt4tbCHU8nfoWJnamLVXkEMFeia3fPnFD3EUwcmiH payer in 8SgNwESovnbG1oNEaPVhg6CR9mTMSK7jPvcYRe3wpump 100000000 6 out SOL 12309272 9
51SfoFAgv3nxEaajLFPCcQpnYaqoLdfZh3ZBWGdNB6c4VSRLcfNzxTnK77ggbsR5HjhDzakQsy35uFZg8KtFAkSj
  13 meteora-dlmm CNyMBhDe985yBzn6EqyT6BJE89iWgufi6wgBZFK9kM1D payer in USDC 80000000 6 out 85VBFQZC9TZkfaptBWjvUw7YbZjy52A6mjtPGjstQAmQ 126665141 6
  23 meteora-dlmm AvQvbFhPtJyaxbkqZPG1uaYwF3gg2JfKq6znUHoKyGE1 payer in SOL 580838181 9 out oreoN2tQbHXVaZsr3pf66A48miqcBXCDJozganhEJgz 756562732 9
rNMFZpBmbr6R8g4hStbC5qAictmWvGFQVTwQyXoCY6QDrcq9UV2QfHJ6oARNuS1VaUh3HVe799CDn44dWQReAye
  4 raydium-amm-v4 GEBvDHNe3oFHovckYEVUhrNXFshkDWaM9QQoTwnYd6vx payer in CMjfdovtzmgRsnhE1cCzdwDFGKt1UzZB4oCGQchQpump 634862142081 6 out SOL 197485565 9
  8 meteora-dlmm GkBsEDBvSBywMzBoVa1ug1V3hRYpzEaaeTBtjYRgjEW9 payer in SOL 197485565 9 out DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263 94110904815 5
628Q5CDNX5mW8pmHUZ56WJ1PmPZXVYuxHontQaxdfNfXAF9bbDJrsmzxkvnzCFgx3w8vqcpoN8prCmmRGMAjjLA2
  3 pump-fun GPgXsGCFjzNNAZtUvxmNo3G3yEouoao1XdkK1SukitdS payer in SOL 392079207 9 out HQ4SzFMwYo8TXds1bHD2TvZdL7S75hK8w775rWrVpump 5609742876530 6
5839B8x1gBRJHHbAbp7nNR76KsLcSFdjqr8CgjgpgLRSXydKvahbZRCjuEuqAGZK4ZWehA963Rd2moYDkSbUFvS3
  8 pump-fun 7ke4MiP4CRN176wAkEdxxUVyUcHi2Qi4e8JJNNCtVeZM payer in SOL 98019801 9 out 37AmZ9EYChwuK95dnP6sYYbqcoEbbvEZYJpinSLfpump 294233863538 6
5KEMtQuv4Ki1xoFVAuA4GXYnkPG2bXSE3n1BNFd1U1yqHC2J91qtQrC7TkpjZvgmSrb7uAhrc6WGZpioE7W6mHRD
  3 pump-fun 2UiFmAK89Fv3xMRMDN5sD2jFQSBSSWeVPN84BAsYwmLq payer in 4fSYiTPwwvU9Ym7CGXG4BNLKMcybg2GZXesYevS8pump 50287397622085 6 out SOL 1667803326 9
4U8kypMuCUCkR6teu2Vn8ujaEJUR3dcUU5QExZxSMMeJ5fRTvYfWs5M5AB9yNjjHKAQ4w433QVyUivc3Pp8gvG1R
  6 pump-fun DizioTk7HKkYcVjiKuB6wdFXtGSisGX57mwG9PFwxXxm payer in SOL 3000000000 9 out D66sbPtYqLnwPYcUqjDktrQtb52CnfF77C3sdpNpR8Si 56716561396327 6
ZEu54dZeki5Bgd3e3zFeAY7x6tTVCWSixswoQ6JbMwKRGNATvzCXjZY6Gabs2dukyupPo6s4P9eA3bCaA5w2Fht
  8 pump-fun 6g4dVVZFSX4zti3E66qWhaAC8FKR1kFzdTFsnijgV7jC payer in SOL 1000000000 9 out 7nYhDYAxQdFn2DRPcjBFPQQz5qb8HeFiJv9o9w6fpump 34612901212710 6
JBnrBbgqh9jRUkUD68GdwBWoxWyz8SqEuM4eYqR6cyMMofFD43XQKjWBMHvRanPuzSU9UC8CFBQH1brAmvjxZpA
  5 pump-fun Ak4Cu8ZTTbaLvAubaCSpzdrEKbpwMpkF4RArSoRLRvMF payer in SOL 386100226 9 out ED5nyyWEzpPPiWimP8vYm7sD7TD3LAt3Q3gRTWHzPJBY 12373970345963 6
  15 pump-fun Ak4Cu8ZTTbaLvAubaCSpzdrEKbpwMpkF4RArSoRLRvMF 7SPkzf8DSxdemSKMEEKquRKEYrdDjcuHaQwac5nvnB4b in SOL 386820768 9 out ED5nyyWEzpPPiWimP8vYm7sD7TD3LAt3Q3gRTWHzPJBY 12100159018198 6
  25 pump-fun Ak4Cu8ZTTbaLvAubaCSpzdrEKbpwMpkF4RArSoRLRvMF GdCFP1doq784rQTHJDuvpLchVWoMtJwdAM8MQTCHWTuz in SOL 393794276 9 out ED5nyyWEzpPPiWimP8vYm7sD7TD3LAt3Q3gRTWHzPJBY 12023935360031 6
  35 pump-fun Ak4Cu8ZTTbaLvAubaCSpzdrEKbpwMpkF4RArSoRLRvMF 8rL9duqqeBRzZZyiz77xgfzDUdbR99TPjmVk5D1LNHuL in SOL 404234089 9 out ED5nyyWEzpPPiWimP8vYm7sD7TD3LAt3Q3gRTWHzPJBY 12044860698416 6
2s393PSYYxJJJfGiwHf18HZeC68nZs44ssbeB4aAkeYMyd1dyiiu3yVmGyRWZuArk5HzYDgVxYfhKLYd2CJ8kCBj
  16 mint 5dNYcCZXEGfGgbdUdq7MMR7KLsNJLLLgL83wLH8Fpump 1000000000000000 6 by TSLvdd1pWpHVjahSpsvCXUbgwsL3JAcvokwaKt1eokM
  24 pump-fun CQrqvWERJtEjw2rCCQV6EqfM6V6jzTuKjhJjKNFmGB7r payer in SOL 1000000000 9 out 5dNYcCZXEGfGgbdUdq7MMR7KLsNJLLLgL83wLH8Fpump 34612903225806 6
3bYXWjjNkVZpz3VWrp8Sh12usVCnzEqhYCnNNMQrMu7C8XHssi2WBTW37zukC5oyYTsAKYRtUQ1xhwFMYFMH19VJ
  3 pump-fun 6cSXbsWdUE86Nvwq8UZSQS8X8v4Rz3TP39V6gSb9Rg6f payer in CnNVDyM7GXBBcH8giuRYm17YCn6kpFTTbnd6Tx4hpump 592443959000000 6 out SOL 37437283903 9
3aQZsNRUbNXpH54GQEaxFpWZsmL554cYGGtWqqoypz8b6LUDYprbRd9AwgivXRLtFBYCU6MU6e9ANurwP8dCMV6
  4 raydium-amm-v4 9xNtkAhkGNG6fPazLe7ZFmmiJ5Mss37sBx9eoya33o4q payer in 2CrtdajpSb7DpMRLKP4yMtFLbCsWZjMkEvgSTf4Ypump 836112233953 6 out SOL 352936256 9
4pAEq48cQsw8VPQ5R3GSXNKS5VdLu5TDTCWuJJ8Bq8uEkohMF87HZMjwfQPQcuvq8bwv8h8HKp7fiNEAi5SKjvyQ
  4 raydium-amm-v4 2mF8wbzawjPzDoCiGBqoinbaVxMJAwRm5wQ1dtgSLZdD payer in SOL 100000000 9 out E8yBUD4AGdxK7MbQEf85oaAvVBuSoRsGCvX2sMxSpump 43045438075 6
2XgzfkWeDeua4oemWXrj3JzhxVsV4mGsqVZfETSbhn6hGFuLvi2fjdK2TGcmuQQnZSEjUmMmPjUnCFWDebGJcgWQ
  7 raydium-amm-v4 FrSpBqMa6MbEt4EY9CvPdM6Ycuc5wRYCdNcDMxgSznLz payer in AaJ6gmTzaQw9zxfK6BD9N89wzZLuSuwTRbi8YrTCpump 22254340082 6 out SOL 2615124 9
2m5nWLnDSbM5SEGCnRxuftg5PFFZR6kziuNQbmrmqtEhbH81PyKVeEsipiXaFQxnerN8zQYB2XRwozrjoZheFDuG
  3 pump-fun HR8M4iQmzagQ7vUDREycE2XSHuELmiQSFSrCa4eKytn5 payer in USDC 3517192 6 out 4F4gGVBAWuKi3EpmYdhntXvCVFqZZqmrb1cqNGawpump 445377137871 6
5EDHe12KqokKkhDLY8n5cs7hYs5g49mNFTMKHARafs9FMVBYcG1rYf7VD4h1zd19G7zaXGNLqqyTsczPXbbafYuZ
  13 mint 7YD6ZHb39jGb33ki2iFd7kHK11yMkSFCc9kvjJscpump 1000000000000000 6 by TSLvdd1pWpHVjahSpsvCXUbgwsL3JAcvokwaKt1eokM
  21 pump-fun 9hgcsTpZP48Ttku3uhg5gZ388YFCfErayJ5rHSru9PF7 payer in SOL 98750018 9 out 7YD6ZHb39jGb33ki2iFd7kHK11yMkSFCc9kvjJscpump 3520371073923 6
2RoRJxatbF9Qkv87jei19u7ei2ckyjjnrCHZBRRAXi4GFJi68kra2iPSk7aoQ9Ugnf5FK5Mdp274hMaVSzn6SN5M
  15 mint CWiTGbCiDd8BKtNYNE2boT9fJGFG2MU53Uf6HQk4pump 1000000000000000 6 by TSLvdd1pWpHVjahSpsvCXUbgwsL3JAcvokwaKt1eokM
  26 pump-fun 3jJ83NDorkbFkF1JKbEfFWGeX16aXUiwby9RwJm9kat3 payer in SOL 2962962962 9 out CWiTGbCiDd8BKtNYNE2boT9fJGFG2MU53Uf6HQk4pump 96449438144093 6
QfFVu1P4ji8EFTor4BcRYS84wipv2RJDhyzi3w3YQgv1D8mxz2RhF9cKxi4k6DZdtzDRPL6a346HboDUAsSUCfV
  9 raydium-amm-v4 EXfpndEFLDYdvkhS7cvuGd6yzzbQcFiFE5EUsVQkb4Nt payer in SOL 10000000 9 out DNrmDMs2czDaAwgzg2BmvM7Jn5ZqA6VN5huRqCrSpump 4036960523 6
2pfnv4drhnitfzCFKxiRoJMzFQpG7wZ9mpRQVk7xm5TQ27g6FZH95HVF6KgwQBS872yGtyhuq57jXXS1y29ub11
  9 meteora-dlmm 3msVd34R5KxonDzyNSV5nT19UtUeJ2RF1NaQhvVPNLxL payer in USDC 10000 6 out SOL 73111 9
  18 pump-fun HUCjBnmd4FoUjCCMYQ9xFz1ce1r8vWAd8uMhUQakE2FR payer in SOL 72380 9 out HaMv3cdfDW6357yjpDur6kb6w52BUPJrMJpR76tjpump 2583728601 6
2GMpqA7duENGaEXJUuP712J3tvX25uU45ZQ8vZdszXVUHyiAwo9byn3vVSVRgxks1PKX7H4wrBcE3FXqH1q6mRa1
  5 orca-whirlpool F4MuvAqpE5nZZVSXGLTWb5vbrXc7B9muZWmXhHQJo6R8 payer in SOL 1428571 9 out 74DSHnK1qqr4z1pXjLjPAVi8XFngZ635jEVpdkJtnizQ 44119999 5
2rY9ky2Ypps3KMxcgEoerPPKc1ZYEhxbV7x2bRZf8n31RuBDddvguvdmWMLyDJB8ayvbcUGH2LPpxDhT2rhubTEX
  7 raydium-amm-v4 5W6Tr3nxenku8xcYSdAbvG6xYbTAEsf3kEnuf4TNn92g payer in JB5TxxRchPN1kBt6oWNURAC5DAnz88SeX2BeQEamMQva 7287032271779 6 out SOL 45130273 9
3HdFhHNyf2uKrW6zb6FeYZpjcRyvprQuQH4oVkmc4uuCAhoEUAEkPHgUzRubf8npmHnziRs4HokFTgAkGPyzso6D
  13 mint EJhqXKJEncSx1HJjS5ZpKdiKGGgLiRgNPvo8JZvw5Guj 151571 9 by 6YJWm3nhHXGPvgAHErWcNmqPQtSSHZhvtmE4U9Adwb3g
  16 raydium-amm-v4 BTJpcMGrNfvRJa2naM3jaraiRMkKCZsRWJrbivUmUjvx payer in SOL 952688995 9 out 9gr84rGyLvVasmqXvj65njjUgKyBemKWSJsvijTPmcQz 83423 9
3HxfYpPAC7dMAoWSDA8ZmZ1V2173ydk51stHrH45VGg9Ykgrr9p676aJwQE2eRJQJ36Bw3hZY5pbpDWhBimGaHNi
  11 meteora-dlmm FoSDw2L5DmTuQTFe55gWPDXf88euaxAEKFre74CnvQbX payer in USDC 2000000000 6 out SOL 9903412546 9
  16 raydium-amm-v4 BTJpcMGrNfvRJa2naM3jaraiRMkKCZsRWJrbivUmUjvx payer in SOL 9903412546 9 out 9gr84rGyLvVasmqXvj65njjUgKyBemKWSJsvijTPmcQz 919927 9
42zg3fooJY4TNf1DBJF4iaFXdE4ZmssX27JpMCSVPmUPA9et2neKND3H8NYViRx4yv2xDjcyZLnBewN3bC2mApXN
  17 raydium-amm-v4 AgFnRLUScRD2E4nWQxW73hdbSN7eKEUb2jHX7tx9YTYc payer in 7BgBvyjrZX1YKz4oh9mjb8ZScatkkwb8DzFx7LoiVkM3 37520000000 9 out SOL 78673640 9
  21 raydium-amm-v4 BTJpcMGrNfvRJa2naM3jaraiRMkKCZsRWJrbivUmUjvx payer in SOL 78673640 9 out 9gr84rGyLvVasmqXvj65njjUgKyBemKWSJsvijTPmcQz 7219 9
4NAC7cK6cRPFZJaJVehTJ2Pstj63oWjcDnnFoPARtsXb4qZiHhQeQmG9wbZg2yTkNPm37h13hP9vdZQdJReHiLBF
  13 mint FbQYjLEq1vNCszmxmxZDoFiy9fgyfdPxzt9Fu5zk5jJ4 1297259 9 by HVoJWyPbQn4XikG9BY2A8wP27HJQzHAoDnAs1SfsATes
  16 raydium-amm-v4 BTJpcMGrNfvRJa2naM3jaraiRMkKCZsRWJrbivUmUjvx payer in SOL 4366864428 9 out 9gr84rGyLvVasmqXvj65njjUgKyBemKWSJsvijTPmcQz 374004 9
4v28RP4AadGTfSRmYyZyag2erNokm6pyE7Fdct14bkEKSDFusPkxkp2DLSovxuGPnRA6qJdmFFQrJHCouq6RaNrw
  11 orca-whirlpool Czfq3xZZDmsdGdUyrNLtRhGc47cXcZtLG4crryfu44zE payer in USDC 3359117529 6 out SOL 17525992778 9
  15 raydium-amm-v4 BTJpcMGrNfvRJa2naM3jaraiRMkKCZsRWJrbivUmUjvx payer in SOL 17525992778 9 out 9gr84rGyLvVasmqXvj65njjUgKyBemKWSJsvijTPmcQz 1548758 9
4vug6xbfY6xpk81oA6p2gJzoA8eb9nowdB3mnNiF97QWiW5cPRXWh3cRutKrGCFbonML7JjLo5xJzuXAntRzN3MZ
  17 meteora-dlmm CyrzGrL9U9x9FfqfQiTi7kWsvJ9mK97tGxtPF1AV8E8d payer in USDT 1536598108 6 out SOL 7582263839 9
  22 raydium-amm-v4 BTJpcMGrNfvRJa2naM3jaraiRMkKCZsRWJrbivUmUjvx payer in SOL 7582263839 9 out 9gr84rGyLvVasmqXvj65njjUgKyBemKWSJsvijTPmcQz 685493 9
4xqxLBqu1ju8eRKb2YiazZxDCdJbLQ8Eh4nEE1zE2WN7GLoyfCes4Cs4fHAcvpf6yNocNv77DfN6oEC7CyYrKAza
  16 raydium-amm-v4 BTJpcMGrNfvRJa2naM3jaraiRMkKCZsRWJrbivUmUjvx payer in SOL 1981700000 9 out 9gr84rGyLvVasmqXvj65njjUgKyBemKWSJsvijTPmcQz 177831 9
5FBWfqrMYoYbqq6yBWJUtqbVmCDAcz79M7NrzB1yxNLibzMWjndHsVRvwDMkUNgwr58KdLP7pCBjkwhnHrbTre5k
  12 orca-whirlpool 4Ui9QdDNuUaAGqCPcDSp191QrixLzQiLxJ1Gnqvz3szP payer in USDC 182560735 6 out JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN 136431176 6
  16 orca-whirlpool C1MgLojNLWBKADvu9BHdtgzz1oZX4dZ5zGdGcgvvW8Wz payer in JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN 136431176 6 out SOL 951099552 9
  20 raydium-amm-v4 BTJpcMGrNfvRJa2naM3jaraiRMkKCZsRWJrbivUmUjvx payer in SOL 951099552 9 out 9gr84rGyLvVasmqXvj65njjUgKyBemKWSJsvijTPmcQz 84315 9
5dk9JQExmdT635xMYA1RvdMTt7thpFoUXAi1MgtMzpEnADiq7TMMjpTG3wN8RHJ3ZqfuvtjsbDV5SHAWqRwiu51F
  9 raydium-amm-v4 4yrHms7ekgTBgJg77zJ33TsWrraqHsCXDtuSZqUsuGHb payer in SOL 969676388 9 out 7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs 5388719 8
DHFysLFq77hbVeDhUF7iJXvyDhBX2M26Ji6MoYTcdFLpq83BewvmevvXtKWYBg34Ze3S719ywzo1qWS2fzaot5M
  11 raydium-clmm EXHyQxMSttcvLPwjENnXCPZ8GmLjJYHtNBnAkcFeFKMn payer in USDC 400000000 6 out SOL 1978088508 9
  15 raydium-amm-v4 BTJpcMGrNfvRJa2naM3jaraiRMkKCZsRWJrbivUmUjvx payer in SOL 1978088508 9 out 9gr84rGyLvVasmqXvj65njjUgKyBemKWSJsvijTPmcQz 182545 9
QFgRtoQK5B4ZMjozD6GmqLkqjaFqhQ7ynJYxGjr9wzNqCTXhNS9NHETuEpsXVmSJokSfPYxAFHdLrivY8CNrYek
  16 raydium-amm-v4 BTJpcMGrNfvRJa2naM3jaraiRMkKCZsRWJrbivUmUjvx payer in SOL 5447000000 9 out 9gr84rGyLvVasmqXvj65njjUgKyBemKWSJsvijTPmcQz 483719 9
S3z6oPjogs9VcYYdCugJVNe25VavQQNxp71BaeY65aSox3rrSWQs3UgGVM3Bu1FcRRGN2pcydgwUqpHfWWC4mi7
  14 raydium-amm-v4 6gpZ9JkLoYvpA5cwdyPZFsDw6tkbPyyXM5FqRqHxMCny payer in mSoLzYCxHdYgdzU16g5QSh3i5K3z3KZK7ytfqcJm7So 32917565 9 out 4k3Dyjzvzp8eMZWUXbBCjEvwSkkk59S5iCNLY3QrkX6R 4063408 6
k2eGRDNqy6mYEXTGp6XT3XvUjh8YEJrn2ozs2bzAXZXJYzpDc9EuVuo2fkQMaHRxyi2DTsKTBTnrYRU9cRh72Mo
  11 raydium-clmm 8sLbNZoA1cfnvMJLPfp98ZLAnFSYCFApfJKMbiXNLwxj payer in USDC 2390000000 6 out SOL 11546395391 9
  15 orca-whirlpool 44W73kGYQgXCTNkGxUmHv8DDBPCxojBcX49uuKmbFc9U payer in SOL 11546395391 9 out HeLp6NuQkmYB4pYWo2zYs22mESHXPQYzXbB8n4V98jwC 1000619133476 9
`;

const MINTS: Readonly<Record<string, string>> = {
  SOL: "So11111111111111111111111111111111111111112",
  USDC: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  USDT: "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB",
};

export interface ExpectedTrade {
  readonly kind: "trade";
  readonly instructionIndex: number;
  readonly program: string;
  readonly pool: string;
  readonly account: string;
  readonly tokenIn: string;
  readonly amountIn: bigint;
  readonly decimalsIn: number;
  readonly tokenOut: string;
  readonly amountOut: bigint;
  readonly decimalsOut: number;
}

export interface ExpectedMint {
  readonly kind: "mint";
  readonly instructionIndex: number;
  readonly mint: string;
  readonly amount: bigint;
  readonly decimals: number;
  readonly authority: string;
}

/** Rows by signature; "payer" stands for the fee payer. */
export function expectedRows(): Map<string, (ExpectedTrade | ExpectedMint)[]> {
  const rows = new Map<string, (ExpectedTrade | ExpectedMint)[]>();
  let current: (ExpectedTrade | ExpectedMint)[] = [];
  for (const line of TABLE.trim().split("\n")) {
    const words = line.trim().split(" ");
    if (words.length === 1) {
      current = [];
      rows.set(words[0] as string, current);
    } else {
      current.push(words[1] === "mint" ? readMint(words) : readTrade(words));
    }
  }
  return rows;
}

function readMint(words: readonly string[]): ExpectedMint {
  const word = (at: number) => words[at] as string;
  return {
    kind: "mint",
    instructionIndex: Number(word(0)),
    mint: word(2),
    amount: BigInt(word(3)),
    decimals: Number(word(4)),
    authority: word(6),
  };
}

function readTrade(words: readonly string[]): ExpectedTrade {
  const word = (at: number) => words[at] as string;
  return {
    kind: "trade",
    instructionIndex: Number(word(0)),
    program: word(1),
    pool: word(2),
    account: word(3),
    tokenIn: MINTS[word(5)] ?? word(5),
    amountIn: BigInt(word(6)),
    decimalsIn: Number(word(7)),
    tokenOut: MINTS[word(9)] ?? word(9),
    amountOut: BigInt(word(10)),
    decimalsOut: Number(word(11)),
  };
}
