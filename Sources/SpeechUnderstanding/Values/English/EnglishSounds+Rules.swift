extension EnglishSounds {
  static let soundsByCharacter: [UInt8: SpeechSound] = [
    UInt8(ascii: "i"): .see, UInt8(ascii: "I"): .sit, UInt8(ascii: "e"): .say, UInt8(ascii: "E"): .set,
    UInt8(ascii: "a"): .cat, UInt8(ascii: "A"): .hot, UInt8(ascii: "o"): .go, UInt8(ascii: "u"): .too,
    UInt8(ascii: "U"): .put, UInt8(ascii: "V"): .cup, UInt8(ascii: "Y"): .my, UInt8(ascii: "W"): .how,
    UInt8(ascii: "O"): .boy, UInt8(ascii: "R"): .bird, UInt8(ascii: "p"): .p, UInt8(ascii: "b"): .b,
    UInt8(ascii: "t"): .t, UInt8(ascii: "d"): .d, UInt8(ascii: "k"): .k, UInt8(ascii: "g"): .g,
    UInt8(ascii: "f"): .f, UInt8(ascii: "v"): .v, UInt8(ascii: "T"): .th, UInt8(ascii: "D"): .dh,
    UInt8(ascii: "s"): .s, UInt8(ascii: "z"): .z, UInt8(ascii: "S"): .sh, UInt8(ascii: "Z"): .zh,
    UInt8(ascii: "C"): .ch, UInt8(ascii: "J"): .j, UInt8(ascii: "m"): .m, UInt8(ascii: "n"): .n,
    UInt8(ascii: "N"): .ng, UInt8(ascii: "l"): .l, UInt8(ascii: "r"): .r, UInt8(ascii: "w"): .w,
    UInt8(ascii: "j"): .y, UInt8(ascii: "h"): .h,
  ]

  /// Frequent words that follow no rule.
  static let exceptionLines = """
    a=V the=DV to,two=tu one,won=wVn of=Vv was=wAz said=sEd says=sEz do=du does=dVz done=dVn who=hu whose=hUz
    come=kVm some,sum=sVm have=hav give=gIv are=Ar were=wR where,wear=wEr there,their,they're=DEr they=De you=ju
    your,you're=jAr eight=et four,for,fore=fAr what=wAt want=wAnt once=wVns only=onli any=Eni many=mEni again=VgEn
    bread=brEd read,red=rEd head=hEd dead=dEd great=gret heart=hArt height=hYt friend=frEnd people=pipVl
    how=hW now=nW cow=kW allow=VlW laugh=laf enough=InVf rough=rVf tough=tVf cough=kAf though=Do through,threw=Tru
    put=pUt push=pUS pull=pUl full=fUl move=muv shoe=Su blood=blVd flood=flVd love=lVv above=VbVv live=lIv
    both=boT most=most other=VDR mother=mVDR brother=brVDR month=mVnT front=frVnt young=jVN touch=tVC
    country=kVntri woman=wUmVn women=wImIn sugar=SUgR sure=SUr ocean=oSVn island=YlVnd aisle=Yl listen=lIsVn
    break,brake=brek steak,stake=stek busy=bIzi business=bIznIs build=bIld fruit=frut view=vju beauty=bjuti iron=YRn answer=ansR minute=mInIt
    close,clothes=kloz this=DIs that=Dat these=Diz those=Doz them=DEm then=DEn than=Dan with=wIT pear,pair=pEr
    bear,bare=bEr weather,whether=wEDR colonel,kernel=kRnVl choir=kwYR queue,cue=kju sew=so key=ki quay=ki
    """

  /// The rules, those that need more neighbours before those that need fewer.
  static let ruleLines = """
    _[a]_=V [augh]=A [aughter]=AtR [aw]=A [aul]t=Al [au]=A [air]=Er [ai]=e [ay]=e [are]_=Er [al]k=A [all]=Al [al]m=A
    w[ar]=Ar [ar]r=ar [ar]=Ar wh[a]t=A w[a]t=A w[a]n=A w[a]s=A w[a]l=A [ange]=enJ [a]ste=e [a]ble=e [a]ti=e [a]ci=e
    [age]_=IJ [a]^e_=e [a]^es_=e [a]^ed_=e [a]^er_=e [a]^ing_=e [a]_=V [aa]=A [ae]=e [a]=a
    m[b]_= [bt]_=t [bb]=b [b]=b
    [cch]=k _[ch]r=k s[ch]=k [ch]em=k [ch]=C [ck]=k [cc]+=ks [cc]=k [ci]a=S [ci]o=S s[c]+= [c]+=s [c]=k
    [dge]=J [dg]=J [dd]=d [d]=d
    [eau]=o [eer]=ir [ear]n=R [ear]l=R [ear]=ir [ere]_=ir [ee]=i [eath]_=ET [ea]th=E [ead]y=Ed [eather]=EDR [ea]=i
    [eigh]=e [ei]n=e [ei]=i [ey]_=i [ew]=u [eu]=u [er]r=Er [er]_=R [er]s_=R [er]^=R [er]y_=Ri [ely]_=li
    s[es]_=Iz z[es]_=Iz x[es]_=Iz ch[es]_=Iz sh[es]_=Iz c[es]_=Iz g[es]_=Iz #:[es]_=z t[ed]_=Id d[ed]_=Id #:[ed]_=d
    _:[e]_=i [e]_= [e]^e_=i [e]o=i [e]ment= [e]ful= [e]less= [e]=E
    [ff]=f [f]=f
    [ght]=t _[gh]=g [gh]_= [gh]= [gn]_=n _[gn]=n [gg]=g _[g]et=g _[g]iv=g _[g]irl=g _[g]ift=g [gu]+=g [g]+=J [g]=g
    _[h]our= _[h]on= #[h]_= #[h]^= [h]=h
    _[i]_=Y [igh]=Y [ign]_=Yn [ild]_=Yld [ind]_=Ynd _:[ie]_=Y [ier]_=iR [ied]_=id [ies]_=iz [ie]=i [ir]=R [ire]_=Yr
    [ique]=ik [i]^e_=Y [i]^es_=Y [i]^ed_=Y [i]^er_=Y [i]^ing_=Y [i]_=i [ia]=iV [io]=io [i]=I
    [jj]=J [j]=J
    _[kn]=n [kk]=k [k]=k
    ^[le]_=Vl ^[les]_=Vlz [ll]=l [l]=l
    [mb]_=m [mn]_=m [mm]=m [m]=m
    [ng]er_=N [ng]_=N [ngs]_=Nz [ng]+=nJ [ng]=Ng [nk]=Nk [nn]=n [n]=n
    [oa]=o [oor]=Ar [oo]k=U [oo]d_=U [oo]t_=u [oo]=u [ough]t=A [ough]_=o [ould]=Ud [our]_=WR [our]s_=WR [our]=Ar [ou]s_=V
    [ou]=W [ower]=WR _:[ow]n_=W [ow]n=W [ow]d=W [ow]l=W [ow]_=o [ow]s_=o [ow]=W [oy]=O [oi]=O [ol]d=ol [oll]_=ol
    [oe]_=o [oes]_=oz w[or]=R #:[or]_=R [or]=Ar [ore]=Ar [o]^e_=o [o]^es_=o [o]^ed_=o [o]^er_=o [o]^ing_=o [o]_=o
    [o]st_=o [o]s_=o #^[on]_=Vn #^[on]s_=Vn [o]^#=o [o]=A
    [ph]=f _[ps]=s _[pn]=n [pp]=p [p]=p
    [que]_=k [qu]=kw [q]=k
    [rh]=r [rr]=r [re]_=r [r]=r
    [sch]=sk [ssion]=SVn #[sion]=ZVn [sion]=SVn [ssure]=SR [sure]=ZR [sh]=S [stle]_=sVl [ss]=s #[se]_=z #[s]#=z
    #[s]_=z b[s]_=z d[s]_=z g[s]_=z l[s]_=z m[s]_=z n[s]_=z r[s]_=z v[s]_=z w[s]_=z [s]=s
    [tch]=C [tion]=SVn [tia]=SV [tio]=So [ture]=CR #[ther]=DR [th]=T [tt]=t [t]=t
    [ur]=R [ui]=u [ue]_=u [ues]_=uz _[uni]=juni _[use]=juz _[us]=Vs [uy]=Y [u]^e_=u [u]^es_=u [u]^ed_=u [u]^er_=u
    [u]_=u [u]^#=u [u]=V
    [vv]=v [v]=v
    _[wr]=r _[wh]ole=h _[who]=hu [wh]=w [ww]=w [w]=w
    _[x]=z [x]=ks
    _[y]=j _:[y]_=Y [y]_=i [y]^e_=Y [y]#=j [y]=I
    [zz]=z [z]=z
    """
}
